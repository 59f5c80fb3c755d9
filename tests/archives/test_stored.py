"""Stored archives of earlier versions load without a network or their biLM's files, and predict the same."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.sst.reader import SstReader
from elmo_tasks.tasks.task_model import TaskModel
from tests.archives.make import EXPECTED, INPUTS, STORED, prediction
from tests.models import make_model
from tests.tiny import SAMPLES

VERSIONS = sorted(folder.name for folder in STORED.glob("[0-9]*"))


@pytest.mark.parametrize("task", INPUTS)
@pytest.mark.parametrize("version", VERSIONS)
def test_predictions_are_unchanged(version: str, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "socket", None)
    expected = json.loads((STORED / version / EXPECTED).read_text("utf-8"))[task]
    found = prediction(STORED / version / f"{task}.tar.gz", expected["input"])
    assert_close(found, expected["output"])


def assert_close(found: Any, expected: Any, *, atol: float = 1e-4, rtol: float = 0.0) -> None:
    """Equal, numbers within the tolerances; additional keys are ignored."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert_close(found[key], value, atol=atol, rtol=rtol)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other, atol=atol, rtol=rtol)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=atol, rel=rtol)
    else:
        assert found == expected


def test_an_archive_of_a_newer_version_is_rejected(tmp_path: Path) -> None:
    model = make_model("sst", list(SstReader().read(SAMPLES["sst"])), tmp_path, None)
    torch.save(model.state_dict(), tmp_path / "best.th")
    state = torch.load(tmp_path / "best.th", weights_only=True)
    assert state._metadata[""]["version"] == TaskModel._version
    model.load_state_dict(state)
    state._metadata[""]["version"] = TaskModel._version + 1
    with pytest.raises(InputError, match="version 3"):
        model.load_state_dict(state)
