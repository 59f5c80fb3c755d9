"""
Distributed training on CPU: two processes train as one with the doubled batch size.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hiding import with_broken_torchvision
from tests.system import output_of
from tests.tiny import ROOT

pytestmark = pytest.mark.slow

SMALL = {
    "dataset_reader.max_instances": 24,
    "model.elmo.at": "both",
    "model.encoder.hidden_sizes": [8],
    "model.encoder.dropout": 0.0,
    "model.text_field_embedder.token_embedders.token_characters.encoder.num_filters": 4,
    "trainer.num_epochs": 2,
    "trainer.optimizer.lr": 0.01,
}


def train(folder: Path, *, batch_size: int, **keys: Any) -> dict[str, float]:
    """The metrics of a training without shuffling."""
    loader = {"batch_size": batch_size, "shuffle": False}
    loaders = {"data_loader": loader, "validation_data_loader": loader}
    overrides = json.dumps(SMALL | loaders | keys)
    command = [
        sys.executable,
        "-m",
        "elmo_tasks",
        "train",
        "training_config/ner_elmo.jsonnet",
        "-s",
        str(folder),
        "-o",
        overrides,
    ]
    plain = {}
    for name, value in os.environ.items():
        if not name.startswith("ELMO_TASKS_"):
            plain[name] = value
    # The new processes, too, must make AllenNLP importable.
    environment = plain | with_broken_torchvision(folder.with_suffix(".site"))
    output_of(command, ROOT, environment)
    return dict(json.loads((folder / "metrics.json").read_text()))


def test_two_processes_train_as_one_with_the_same_global_batch(tmp_path: Path) -> None:
    together = train(
        tmp_path / "two", batch_size=3, distributed={"cuda_devices": [-1, -1]}
    )
    alone = train(tmp_path / "one", batch_size=6)
    assert alone["epoch"] == together["epoch"] == 1
    for name in (
        "training_loss",
        "validation_loss",
        "best_validation_f1",
        "best_validation_elmo_input_gamma",
    ):
        assert together[name] == pytest.approx(alone[name], rel=1e-4), name
    assert alone["best_validation_elmo_input_gamma"] != pytest.approx(1.0, abs=1e-3), (
        "nothing was learned"
    )
