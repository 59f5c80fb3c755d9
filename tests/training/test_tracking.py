"""
Reporting a training to a tracker, with a stand-in for its package;
tests/integrations/test_trackers.py has the packages.
"""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks.cli.main import run as run_command
from elmo_tasks.errors import InputError
from elmo_tasks.training.run import train
from elmo_tasks.training.trackers import PACKAGES
from elmo_tasks.training.tracking import Tracking
from tests.tiny import ROOT, heard
from tests.training.tracked import EPOCHS, comparable, config_of, metrics_of, run

STAND_IN = Path(__file__).parent / "trackers" / "wandb.py"


@pytest.fixture
def calls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[[], list[dict[str, Any]]]:
    """The calls of a stand-in for the package wandb."""
    spec = importlib.util.spec_from_file_location("wandb", STAND_IN)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "wandb", module)
    file = tmp_path / "calls.jsonl"
    file.touch()
    monkeypatch.setenv("STAND_IN_CALLS", str(file))
    return lambda: [json.loads(line) for line in file.read_text().splitlines()]


def logged(calls: list[dict[str, Any]]) -> dict[int, dict[str, float]]:
    """The metrics in the calls of `log`, by step."""
    found = {}
    for call in calls:
        if call["call"] == "log":
            assert call["step"] not in found, "an epoch was reported twice"
            found[call["step"]] = comparable(call["metrics"])
    return found


def test_config_name_and_metrics_are_reported(
    configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: Any
) -> None:
    config = config_of(configs, "wandb", project="words")
    run(config, tmp_path / "first", monkeypatch, stop="")
    first, *_, last = calls()
    assert (first["project"], first["name"]) == ("words", "first")
    assert first["config"] == config
    assert last == {"call": "finish", "exit_code": 0}
    assert logged(calls()) == metrics_of(tmp_path / "first")
    assert {"training_loss", "validation_accuracy"} <= logged(calls())[1].keys()


@pytest.mark.parametrize("stop", ["batch 1", "batch 2", "epoch 2"])
def test_a_resumed_training_continues_its_run(
    stop: str,
    configs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    calls: Any,
) -> None:
    """Stopped before its first checkpoint, after it, and after a report."""
    run(config_of(configs, "wandb"), tmp_path / "run", monkeypatch, stop)
    begun = [call for call in calls() if call["call"] == "init"]
    assert len(begun) == 2 and begun[0]["id"] == begun[1]["id"]
    assert [call["exit_code"] for call in calls() if call["call"] == "finish"] == [1, 0]
    assert logged(calls()) == metrics_of(tmp_path / "run")


def test_a_new_training_in_the_folder_is_another_run(
    configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: Any
) -> None:
    config = config_of(configs, "wandb", name="mine")
    for _ in range(2):
        train(Params(json.loads(json.dumps(config))), tmp_path / "run", force=True)
    begun = [call for call in calls() if call["call"] == "init"]
    assert [call["name"] for call in begun] == ["mine", "mine"]
    assert begun[0]["id"] != begun[1]["id"]


@pytest.mark.parametrize("place", ["start", "2"])
def test_a_tracker_that_fails_does_not_stop_the_training(
    place: str,
    configs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    calls: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    config = config_of(configs, "wandb")
    monkeypatch.setenv("STAND_IN_FAILS_AT", place)
    with heard(caplog, "elmo_tasks"):
        run(config, tmp_path / "run", monkeypatch, stop="")
    warnings = []
    for record in caplog.records:
        if "wandb" in record.getMessage():
            warnings.append(record.getMessage())
    assert len(warnings) == 1
    assert re.search("wandb failed.*--recover.*OSError: no connection", warnings[0])
    assert (tmp_path / "run" / "model.tar.gz").is_file()
    monkeypatch.delenv("STAND_IN_FAILS_AT")
    train(Params(config), tmp_path / "run", recover=True)
    assert logged(calls()) == metrics_of(tmp_path / "run")


def test_allennlps_trainer(
    configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: Any
) -> None:
    config = config_of(configs, "wandb")
    config["trainer"]["type"] = "gradient_descent"
    run(config, tmp_path / "run", monkeypatch, stop="batch 2")
    assert logged(calls()).keys() == {1, 2, 3}


def test_the_name_of_a_tables_run(tmp_path: Path, calls: Any) -> None:
    folder = tmp_path / "ner-elmo-4f2a" / "model"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    callback = Tracking(str(folder), "wandb")
    callback.on_start(_Stub(), is_primary=False)
    assert calls() == []
    callback.on_start(_Stub())
    assert calls()[0]["name"] == "ner-elmo-4f2a"


DAMAGED = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    '{"to": "wandb"}',
    '{"to": "wandb", "id": "a"}',
    '{"to": "wandb", "id": "", "epochs": 1}',
    '{"to": "wandb", "id": 5, "epochs": 1}',
    '{"to": "wandb", "id": "a", "epochs": "1"}',
    '{"to": "wandb", "id": "a", "epochs": -1}',
    '{"to": "nobody", "id": "a", "epochs": 1}',
    "[" * 10_000,
]


@pytest.mark.parametrize("record", DAMAGED, ids=lambda text: text[:40])
def test_a_damaged_record_is_named_and_can_be_removed(
    record: str, tmp_path: Path, calls: Any, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "config.json").write_text("{}")
    for epoch in range(2):
        metrics = json.dumps({"epoch": epoch, "loss": 1.0})
        (tmp_path / f"metrics_epoch_{epoch}.json").write_text(metrics)
    file = tmp_path / "tracked.json"
    file.write_text(record)
    track(tmp_path, finished=2)
    (warning,) = [one.getMessage() for one in caplog.records]
    assert f"{file}: expected the tracker, id and epochs of a run, got" in warning
    assert "remove it; --recover then reports all epochs to another run" in warning
    assert "Error" not in warning and calls() == []
    assert file.read_text() == record
    file.unlink()
    track(tmp_path, finished=2)
    assert [call["call"] for call in calls()] == ["init", "log", "log", "log", "finish"]
    assert [call["step"] for call in calls()[1:4]] == [1, 2, 3]


def test_the_record_of_another_tracker_begins_a_run(tmp_path: Path, calls: Any) -> None:
    (tmp_path / "config.json").write_text("{}")
    record = '{"to": "mlflow", "id": "a", "epochs": 9}'
    (tmp_path / "tracked.json").write_text(record)
    track(tmp_path, finished=0)
    assert [call["call"] for call in calls()] == ["init", "log", "finish"]


@pytest.mark.parametrize("place", ["start", "1", "folder"])
def test_what_was_begun_is_finished_after_a_failure(
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    calls: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setenv("STAND_IN_FAILS_AT", place)
    if place == "folder":  # where the record cannot be written
        (tmp_path / "tracked.json").mkdir()
    track(tmp_path, finished=0)
    expected = [] if place == "start" else ["init", "finish"]
    assert [call["call"] for call in calls()] == expected
    assert len(caplog.records) == 1


def track(folder: Path, finished: int) -> None:
    """Reports one more epoch than were finished."""
    callback = Tracking(str(folder), "wandb")
    trainer = _Stub()
    trainer._start_after_epochs_completed = finished
    callback.on_start(trainer)
    callback.on_epoch(trainer, {"loss": 0.5}, finished)
    callback.on_end(trainer, {"loss": 0.5})


class _Stub:
    """A trainer that starts from scratch."""

    _start_after_epochs_completed = 0


@pytest.mark.parametrize("to", ["wandb", "trackio", "mlflow"])
def test_a_missing_package_is_one_problem_before_anything_is_read(
    to: str,
    configs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, to, None)
    config = config_of(configs, to)
    problem = rf'trainer.callbacks.0.to: expected "{to}" and its package, got .*{to} '
    problem += rf"\(pip install .*{to}.*\)"
    with pytest.raises(InputError, match=f"one problem.*\n.*{problem}"):
        train(Params(json.loads(json.dumps(config))), tmp_path / "run")
    assert not (tmp_path / "run").exists()
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(SystemExit, match="1"):
        run_command(["check", str(tmp_path / "config.json")])
    assert re.search(problem, capsys.readouterr().out)
    with pytest.raises(InputError, match=f"expected the package {to}"):
        TrainerCallback.from_params(
            Params({"type": "elmo_tasks_tracker", "to": to}),
            serialization_dir=str(tmp_path),
        )


def test_what_the_error_installs_is_documented_and_tested() -> None:
    page = (ROOT / "docs" / "CONFIGS.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (tested,) = re.findall(r"^TRACKERS := --no-warn-conflicts (.*)$", makefile, re.M)
    for name, packages in PACKAGES.items():
        assert f"| `{name}` | `pip install {packages}` |" in page
        assert set(shlex.split(packages)) <= set(shlex.split(tested))


def test_wrong_values(tmp_path: Path, calls: Any) -> None:
    with pytest.raises(
        InputError, match="'wandb', 'trackio' or 'mlflow'|wandb.*mlflow"
    ):
        Tracking(str(tmp_path), "tensorboard")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="name.*1 to 100 printable characters"):
        Tracking(str(tmp_path), "wandb", name="a/b")


@pytest.mark.slow
def test_two_processes_report_once(configs: Path, tmp_path: Path) -> None:
    config = config_of(configs, "wandb")
    config["trainer"]["callbacks"].pop()
    config["distributed"] = {"cuda_devices": [-1, -1]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    paths = os.pathsep.join([str(STAND_IN.parent), str(ROOT)])
    own = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    own["STAND_IN_CALLS"] = str(tmp_path / "calls.jsonl")
    command = [sys.executable, "-m", "elmo_tasks", "train"]
    command += [str(tmp_path / "config.json"), "-s", str(tmp_path / "run")]
    subprocess.run(command, env=os.environ | own, check=True, capture_output=True)
    lines = (tmp_path / "calls.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert [call["call"] for call in found] == ["init", *["log"] * EPOCHS, "finish"]
    assert logged(found) == metrics_of(tmp_path / "run")
