"""
Checks of whole configs: each config in `broken/` has exactly the problems that its
comments announce.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.cli.check import check_config
from tests.test_configs import FOLDER

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.jsonnet"))
EXPECTED = "// expected: "

pytestmark = pytest.mark.usefixtures("configs")


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_broken_config(file: Path, root: Path) -> None:
    expected = []
    for line in file.read_text().splitlines():
        if line.startswith(EXPECTED):
            start = line.removeprefix(EXPECTED).replace("$DATA", str(root))
            expected.append(start)
    problems = [str(problem) for problem in check_config(file)]
    assert expected and len(problems) == len(expected), problems
    for problem, start in zip(problems, expected, strict=True):
        assert problem.startswith(start)


def test_an_empty_path() -> None:
    overrides = json.dumps({"model.elmo.options_file": ""})
    (problem,) = check_config(FOLDER / "ner_elmo.jsonnet", overrides)
    assert problem.path == "model.elmo.options_file"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ([], ""),
        ({}, ""),
        ([None], ".0"),
        ({"type": None}, ".type"),
        ({"a": {"b": [1]}}, ".a.b.0"),
        ({"a": []}, ".a"),
    ],
)
@pytest.mark.parametrize("name", ["ner", "bilm"])
def test_data_paths_of_wrong_types(name: str, path: Any, place: str) -> None:
    keys = {"train_data_path": path}
    (problem,) = check_config(FOLDER / f"{name}.jsonnet", json.dumps(keys))
    assert problem.path == f"train_data_path{place}"
    assert problem.expected == "a path"


@pytest.mark.parametrize(
    ("gpus", "overrides", "paths"),
    [
        (1, {"trainer.cuda_device": 2}, ["trainer.cuda_device"]),
        (0, {"trainer.cuda_device": [-1]}, ["trainer.cuda_device"]),
        (0, {"distributed": {"cuda_devices": [-1, -1]}, "trainer.cuda_device": 0}, []),
        (
            0,
            {"distributed": {"cuda_devices": [5, "x", -1]}},
            ["distributed.cuda_devices.0", "distributed.cuda_devices.1"],
        ),
    ],
)
def test_missing_devices(
    monkeypatch: pytest.MonkeyPatch,
    gpus: int,
    overrides: dict[str, object],
    paths: list[str],
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    problems = check_config(FOLDER / "ner.jsonnet", json.dumps(overrides))
    assert [problem.path for problem in problems] == paths
