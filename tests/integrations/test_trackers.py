"""
Each tracker's package, offline: what it has of a training that was interrupted. Tested
in a separate environment.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.training.tracked import comparable, config_of, metrics_of, run


class Tracked(NamedTuple):
    """What a tracker has: a run, and its metrics by step."""

    project: str
    name: str
    config: dict[str, Any]
    steps: dict[int, dict[str, float]]


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which every tracker keeps its runs."""
    folder = tmp_path / "tracked"
    folder.mkdir()
    for name in ("DIR", "CACHE_DIR", "CONFIG_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"WANDB_{name}", str(folder))
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("TRACKIO_DIR", str(folder))
    # The variable is read when the package is imported, and would stay for other tests.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", folder.as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    return folder


def in_wandb(folder: Path) -> list[Tracked]:
    """Of the files that `wandb sync` would send; those of one id are one run."""
    from wandb.proto.wandb_internal_pb2 import Record

    runs: dict[str, Tracked] = {}
    for file in sorted(folder.glob("wandb/offline-run-*/*.wandb")):
        for data in records_in(file.read_bytes()):
            record = Record.FromString(data)
            kind = record.WhichOneof("record_type")
            if kind == "run" and record.run.run_id not in runs:
                config = {}
                for item in record.run.config.update:
                    config[item.key] = json.loads(item.value_json)
                config.pop("_wandb", None)
                runs[record.run.run_id] = Tracked(
                    record.run.project, record.run.display_name, config, {}
                )
            if kind == "history":
                metrics = {}
                for item in record.history.item:
                    name = item.key or ".".join(item.nested_key)
                    if not name.startswith("_"):
                        metrics[name] = json.loads(item.value_json)
                run_id = file.stem.removeprefix("run-")
                runs[run_id].steps[record.history.step.num] = metrics
    return list(runs.values())


def records_in(data: bytes) -> Iterator[bytes]:
    """The records of a log in the format of LevelDB, after 7 bytes of wandb's own."""
    block = 2**15
    place = 7
    record = b""
    while place + 7 <= len(data):
        if block - place % block < 7:
            place += block - place % block
            continue
        length = int.from_bytes(data[place + 4 : place + 6], "little")
        kind = data[place + 6]  # 1: whole, 2: first part, 3: middle, 4: last
        record += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            yield record
            record = b""


def in_trackio(folder: Path) -> list[Tracked]:
    import trackio
    from trackio.sqlite_storage import SQLiteStorage

    found = []
    for one in trackio.Api().runs("words"):
        steps: dict[int, dict[str, float]] = {}
        for entry in SQLiteStorage.get_logs("words", one.name):
            step = entry.pop("step")
            assert step not in steps
            entry.pop("timestamp")
            steps[step] = entry
        config = {}
        for key, value in one.config.items():
            if not key.startswith("_"):
                config[key] = value
        found.append(Tracked("words", one.name, config, steps))
    return found


def in_mlflow(folder: Path) -> list[Tracked]:
    import mlflow

    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("words")
    found = []
    for one in client.search_runs([experiment.experiment_id]):
        steps: dict[int, dict[str, float]] = {}
        for name in one.data.metrics:
            for metric in client.get_metric_history(one.info.run_id, name):
                values = steps.setdefault(metric.step, {})
                assert name not in values
                values[name] = metric.value
        parameters = dict(one.data.params)
        found.append(Tracked("words", one.info.run_name, parameters, steps))
        assert one.info.status == "FINISHED"
    return found


READERS = {"wandb": in_wandb, "trackio": in_trackio, "mlflow": in_mlflow}


@pytest.mark.parametrize("to", READERS)
def test_the_package_has_one_run_of_an_interrupted_training(
    to: str,
    configs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    offline: Path,
) -> None:
    pytest.importorskip(
        to, reason=f"{to} is not installed: tested by make test-adapters"
    )
    config = config_of(configs, to, project="words")
    run(config, tmp_path / "film", monkeypatch, stop="batch 2")
    (found,) = READERS[to](offline)
    assert (found.project, found.name) == ("words", "film")
    if to == "mlflow":
        assert found.config["trainer.num_epochs"] == "3"
        assert found.config["train_data_path"] == config["train_data_path"]
    else:
        assert found.config == config
    steps = {step: comparable(found.steps[step]) for step in found.steps}
    assert steps == metrics_of(tmp_path / "film")


def test_two_runs_of_one_name_in_trackio(
    configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: Path
) -> None:
    pytest.importorskip(
        "trackio", reason="trackio is not installed: tested by make test-adapters"
    )
    from trackio import Api

    config = config_of(configs, "trackio", project="twins")
    for place in ("a", "b"):
        run(config, tmp_path / place / "film", monkeypatch, stop="")
    names = sorted(one.name for one in Api().runs("twins"))
    assert names[0] == "film" and re.fullmatch(r"film-\w{6}", names[1])
