"""Checks of whole configs: each config in `broken/` has exactly the problems that its comments announce."""

import json
from pathlib import Path

import pytest
import torch

from elmo_tasks import settings
from elmo_tasks.checks.config import check_config
from tests.test_configs import FOLDER
from tests.tiny import write_data_root

BROKEN = sorted((Path(__file__).parent / "broken").glob("*.jsonnet"))
EXPECTED = "// expected: "


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files with the official names; no folder has `test` as its name."""
    root = write_data_root(tmp_path_factory.mktemp("data"))
    (root / "ner" / "eng.testb").write_text("Ann NN I-NP I-PER\nsails NN I-VP O\n\n")
    return root


@pytest.fixture(autouse=True)
def mini(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv(settings.SCALE_VARIABLE, "mini")
    monkeypatch.setenv(settings.DATA_VARIABLE, str(root))
    monkeypatch.setenv(settings.FIXTURES_VARIABLE, str(root))


@pytest.mark.parametrize("file", BROKEN, ids=lambda file: file.stem)
def test_broken_config(file: Path, root: Path) -> None:
    lines = file.read_text().splitlines()
    expected = [line.removeprefix(EXPECTED).replace("$DATA", str(root)) for line in lines if line.startswith(EXPECTED)]
    problems = [str(problem) for problem in check_config(file).problems]
    assert expected and len(problems) == len(expected), problems
    assert [line for line, start in zip(problems, expected, strict=True) if not line.startswith(start)] == []


@pytest.mark.parametrize(
    ("overrides", "path"),
    [
        ({"train_data_path": None}, "train_data_path"),
        ({"validation_data_path": [3]}, "validation_data_path"),
        ({"model.elmo.options_file": ""}, "model.elmo.options_file"),
    ],
)
def test_invalid_paths(overrides: dict[str, object], path: str) -> None:
    (problem,) = check_config(FOLDER / "ner_elmo.jsonnet", json.dumps(overrides), build=False).problems
    assert problem.path == path


@pytest.mark.parametrize(
    ("gpus", "overrides", "paths"),
    [
        (0, {"trainer.cuda_device": 0}, ["trainer.cuda_device"]),
        (1, {"trainer.cuda_device": 2}, ["trainer.cuda_device"]),
        (1, {"trainer.cuda_device": 0}, []),
        (0, {"trainer.cuda_device": [-1]}, ["trainer.cuda_device"]),
        (0, {"trainer.cuda_device": None}, []),
        (0, {"distributed": {"cuda_devices": [-1, 1]}}, ["distributed.cuda_devices.1"]),
        (0, {"distributed": {"cuda_devices": [-1]}}, ["distributed.cuda_devices"]),
        (0, {"distributed": {"num_nodes": 2}}, ["distributed.cuda_devices"]),
        (0, {"distributed": {"cuda_devices": [-1, -1]}, "trainer.cuda_device": 0}, []),
        (0, {"distributed": {"cuda_devices": [-1], "num_nodes": 2}}, []),
    ],
)
def test_missing_devices(
    monkeypatch: pytest.MonkeyPatch, gpus: int, overrides: dict[str, object], paths: list[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    report = check_config(FOLDER / "ner.jsonnet", json.dumps(overrides), build=False)
    assert [problem.path for problem in report.problems] == paths


def test_step_runs_on_the_cpu_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    report = check_config(FOLDER / "ner.jsonnet", '{"trainer.cuda_device": 0}')
    assert [problem.kind for problem in report.problems] == ["device"] and report.loss is not None


@pytest.mark.parametrize(
    ("text", "got"), [("[1]", "got [1]"), ("", "unexpected end of file"), ("{a: b}", "b"), (None, "")]
)
def test_unreadable_files(text: str | None, got: str, tmp_path: Path) -> None:
    file = tmp_path / "config.jsonnet"
    if text is not None:
        file.write_text(text)
    for path, overrides in ((file, ""), (FOLDER / "ner.jsonnet", "{")):
        (problem,) = check_config(path, overrides).problems
        assert str(problem).startswith("config: expected a readable config, got ")
        assert path != file or got in problem.got


def test_folder_is_not_a_config(tmp_path: Path) -> None:
    (problem,) = check_config(tmp_path).problems
    assert str(tmp_path) in problem.got
