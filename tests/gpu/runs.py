"""Short runs of the configs with the trainer that users have."""

import json
import random
from pathlib import Path
from typing import Any

import numpy
import torch
from allennlp.commands.train import TrainModel
from allennlp.models import Model

from elmo_tasks.system.run_names import CONFIG
from elmo_tasks.training.config import read_config
from tests.pretraining import toy

STEPS: dict[str, Any] = {
    "dataset_reader.max_instances": 3,
    "data_loader.batches_per_epoch": 2,
    "validation_data_loader.batches_per_epoch": 1,
}
"""Two steps and an evaluation of a task model."""

LM_STEPS: dict[str, Any] = {
    "data_loader.batch_size": 4,
    "data_loader.unroll": 5,
    "data_loader.steps_per_epoch": 2,
    "validation_data_loader.batch_size": 8,
}
"""Those of a biLM."""

BILM = {**LM_STEPS, "model.options": toy.OPTIONS, "vocabulary.min_count": 1}
"""Those of a new, tiny biLM."""


def steps_of(config: Path) -> dict[str, Any]:
    if config.stem == "bilm":
        return BILM
    if config.stem == "bilm_finetune":  # on a GPU, both directions share a draw
        return {**LM_STEPS, "model.dropout": 0.0}
    if config.stem.startswith("squad"):  # whose passages are long
        return {**STEPS, "dataset_reader.max_instances": 1}
    return STEPS


def built(
    config: Path, folder: Path, device: torch.device, **overrides: Any
) -> TrainModel:
    """The training of a config on a device, with the same random numbers for each."""
    for seed in (random.seed, numpy.random.seed, torch.manual_seed):
        seed(2)
    keys = {
        **steps_of(config),
        "trainer.num_epochs": 1,
        "trainer.enable_default_callbacks": False,
        "trainer.cuda_device": -1 if device.type == "cpu" else device.index,
        **overrides,
    }
    params = read_config(config, json.dumps(keys))
    # As `allennlp train` does.
    folder.mkdir(exist_ok=True)
    params.to_file(str(folder / CONFIG))
    for key in ("evaluation", "include_in_archive"):
        params.pop(key, None)
    return TrainModel.from_params(
        params=params, serialization_dir=str(folder), local_rank=0
    )


def trained(
    config: Path, folder: Path, device: torch.device, **overrides: Any
) -> dict[str, float]:
    """The numbers of two training steps and an evaluation."""
    training = built(config, folder, device, **overrides)
    if device.type == "cuda":
        disable_dropout(training.model)
    metrics = training.trainer.train()
    numbers = {}
    for name, value in metrics.items():
        if type(value) is float and not name.endswith("_MB"):
            numbers[name] = value
    return numbers


def disable_dropout(model: Model) -> None:
    """CUDA draws other random numbers than the CPU."""
    for module in model.modules():
        for name in ("p", "dropout", "_dropout"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
