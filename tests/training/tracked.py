"""A tiny training that reports to a tracker, and what it must have reported."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks.errors import Interrupted
from elmo_tasks.training.config import read_config
from elmo_tasks.training.run import train
from tests.tiny import tiny_model

EPOCHS = 3


@TrainerCallback.register("tests_stop")
class Stop(TrainerCallback):
    """Ctrl-C in the middle or at the end of an epoch, as `STOP` says: `batch 2`."""

    def on_batch(self, *arguments: Any, epoch: int = 0, **options: Any) -> None:
        self._stop_at(f"batch {arguments[4] + 1}", options["is_training"])

    def on_epoch(self, *arguments: Any, epoch: int = 0, **options: Any) -> None:
        self._stop_at(f"epoch {epoch + 1}")

    def _stop_at(self, place: str, really: bool = True) -> None:
        if really and os.environ.get("STOP") == place:
            raise KeyboardInterrupt


def config_of(configs: Path, to: str, **keys: Any) -> dict[str, Any]:
    """A tiny training that reports to a tracker."""
    config: dict[str, Any] = read_config(configs / "sst.jsonnet").as_dict(quiet=True)
    config["model"] = tiny_model("sst")
    config["trainer"] |= {
        "num_epochs": EPOCHS,
        "callbacks": [{"type": "elmo_tasks_tracker", "to": to, **keys}, "tests_stop"],
    }
    return config


def run(
    config: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    """Trains, is interrupted if `stop` names a place, and resumes."""
    monkeypatch.setenv("STOP", stop)
    if stop:
        with pytest.raises(Interrupted):
            train(Params(json.loads(json.dumps(config))), folder)
        monkeypatch.delenv("STOP")
    train(Params(json.loads(json.dumps(config))), folder, recover=bool(stop))


def metrics_of(folder: Path) -> dict[int, dict[str, float]]:
    """The numbers in the files of metrics, by the number of finished epochs."""
    found = {}
    for epoch in range(EPOCHS):
        metrics = json.loads((folder / f"metrics_epoch_{epoch}.json").read_text())
        found[epoch + 1] = comparable(metrics)
    return found


def comparable(metrics: dict[str, Any]) -> dict[str, float]:
    """Without texts, and without the memory, which differs in a repeated epoch."""
    found = {}
    for name, value in metrics.items():
        if not isinstance(value, str) and "memory" not in name:
            found[name] = value
    return found
