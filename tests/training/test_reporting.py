"""
What an interrupted and resumed training has reported to Weights & Biases: one run.
"""

import json
import os
import sys
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
) -> None:
    """Trains a tiny model, is interrupted, and resumes."""
    config: dict[str, Any] = read_config(configs / "sst.jsonnet").as_dict(quiet=True)
    config["model"] = tiny_model("sst")
    callbacks = [callback, "tests_stop"]
    config["trainer"] |= {"num_epochs": EPOCHS, "callbacks": callbacks}
    monkeypatch.setenv("STOP", "1")
    with pytest.raises(Interrupted):
        train(Params(json.loads(json.dumps(config))), folder)
    monkeypatch.delenv("STOP")
    train(Params(json.loads(json.dumps(config))), folder, recover=True)


def test_weights_and_biases(
    configs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("CACHE_DIR", "CONFIG_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"WANDB_{name}", str(tmp_path))
    callback = {"type": "elmo_tasks_wandb", "project": "words", "name": "mine"}
    run(configs, tmp_path / "film", callback, monkeypatch)
    files = list(tmp_path.glob("film/wandb/offline-run-*/run-*.wandb"))
    assert len(files) == 2 and len({file.name for file in files}) == 1
    assert all(b"validation/accuracy" in file.read_bytes() for file in files)


def test_without_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, configs: Path
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="needs the package wandb .*pip install"):
        TrainerCallback.from_params(
            Params({"type": "elmo_tasks_wandb"}), serialization_dir=str(tmp_path)
        )
