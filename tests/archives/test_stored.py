"""
Stored archives load without a network or their biLM's files, and predict the same.
"""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.archives.make import EXPECTED, INPUTS, STORED, prediction

VERSIONS = sorted(folder.name for folder in STORED.glob("[0-9]*"))


@pytest.mark.parametrize("task", INPUTS)
@pytest.mark.parametrize("version", VERSIONS)
def test_predictions_are_unchanged(
    version: str, task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "socket", None)
    expected = json.loads((STORED / version / EXPECTED).read_text("utf-8"))[task]
    found = prediction(STORED / version / f"{task}.tar.gz", expected["input"])
    assert_close(found, expected["output"])


def assert_close(
    found: Any, expected: Any, *, atol: float = 1e-4, rtol: float = 0.0
) -> None:
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
