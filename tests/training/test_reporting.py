"""
What an interrupted and resumed training has reported to Weights & Biases: one run, with
the metrics of its epochs.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks.errors import InputError, Interrupted
from elmo_tasks.training.config import read_config
from elmo_tasks.training.run import train
from tests.tiny import tiny_model

EPOCHS = 3


@TrainerCallback.register("tests_stop")
class Stop(TrainerCallback):
    """Ctrl-C in the second epoch, where `STOP` is set."""

    def on_batch(self, *arguments: Any, epoch: int = 0, **options: Any) -> None:
        if "STOP" in os.environ and arguments[4] == 1 and options["is_training"]:
            raise KeyboardInterrupt


def run(
    configs: Path, folder: Path, callback: Any, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Trains a tiny model, is interrupted, and resumes. Returns the config."""
    config: dict[str, Any] = read_config(configs / "sst.jsonnet").as_dict(quiet=True)
    config["model"] = tiny_model("sst")
    callbacks = [callback, "tests_stop"]
    config["trainer"] |= {"num_epochs": EPOCHS, "callbacks": callbacks}
    monkeypatch.setenv("STOP", "1")
    with pytest.raises(Interrupted):
        train(Params(json.loads(json.dumps(config))), folder)
    monkeypatch.delenv("STOP")
    train(Params(json.loads(json.dumps(config))), folder, recover=True)
    return config


def metrics_of(folder: Path, epoch: int) -> dict[str, float]:
    """The numbers of an epoch, counted from 0, by the names that AllenNLP reports."""
    metrics = json.loads((folder / f"metrics_epoch_{epoch}.json").read_text())
    found = {}
    for name in ("training_loss", "training_accuracy"):
        found["train/" + name.removeprefix("training_")] = metrics[name]
    for name in ("validation_loss", "validation_accuracy"):
        found["validation/" + name.removeprefix("validation_")] = metrics[name]
    return found


def test_weights_and_biases(
    configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("CACHE_DIR", "CONFIG_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"WANDB_{name}", str(tmp_path))
    callback = {"type": "elmo_tasks_wandb", "project": "words", "name": "mine"}
    config = run(configs, tmp_path / "film", callback, monkeypatch)
    runs, found = wandb_runs(tmp_path / "film")
    assert len({one.run_id for one in runs}) == 1
    assert (runs[0].project, runs[0].display_name) == ("words", "mine")
    reported = {item.key: item.value_json for item in runs[0].config.update}
    assert json.loads(reported["trainer"]) == config["trainer"]
    for epoch in range(EPOCHS):
        (step,) = [one for one in found if one.get("epoch") == epoch]
        expected = metrics_of(tmp_path / "film", epoch)
        assert {name: step[name] for name in expected} == expected


def test_without_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configs: Path
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="needs the package wandb .*pip install"):
        TrainerCallback.from_params(
            Params({"type": "elmo_tasks_wandb"}), serialization_dir=str(tmp_path)
        )


def wandb_runs(folder: Path) -> tuple[list[Any], list[dict[str, Any]]]:
    """The runs and the steps in the files that `wandb sync` would send."""
    from wandb.proto.wandb_internal_pb2 import Record

    runs = []
    steps: dict[int, dict[str, Any]] = {}
    for file in sorted(folder.glob("wandb/offline-run-*/*.wandb")):
        for data in wandb_records(file.read_bytes()):
            record = Record.FromString(data)
            kind = record.WhichOneof("record_type")
            if kind == "run":
                runs.append(record.run)
            if kind == "history":
                step = steps.setdefault(record.history.step.num, {})
                for item in record.history.item:
                    name = item.key or ".".join(item.nested_key)
                    step[name] = json.loads(item.value_json)
    return runs, list(steps.values())


def wandb_records(data: bytes) -> Iterator[bytes]:
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
