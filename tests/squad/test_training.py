"""Training as the configs do it: what is validated and kept is the average, also after a break."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from torch import Tensor

from tests.squad.samples import FIXTURES, TINY

DECAY = 0.8
TRAINING: dict[str, Any] = {
    "dataset_reader": {"type": "elmo_tasks_squad", "max_instances": 2},
    "train_data_path": str(FIXTURES / "train-v1.1.json"),
    "validation_data_path": str(FIXTURES / "train-v1.1.json"),
    "model": {**TINY, "input_dropout": 0.0, "output_dropout": 0.0, "dropout": 0.0},
    "data_loader": {
        "batch_sampler": {"type": "elmo_tasks_token_budget", "batch_size": 9, "sorting_key": "passage"},
    },
    "trainer": {
        "validation_metric": "-loss",
        "optimizer": {"type": "adadelta", "lr": 1.0, "rho": 0.95, "eps": 1e-6},
        "moving_average": {"type": "elmo_tasks_exponential", "decay": DECAY},
        "checkpointer": {"keep_most_recent_by_count": 9},
        "run_confidence_checks": False,
    },
}


def train(folder: Path, epochs: int) -> dict[str, Tensor]:
    """Trains in a folder up to so many epochs of one step each; the model's state at the end."""
    torch.manual_seed(3)
    folder.mkdir(exist_ok=True)
    params = deepcopy(TRAINING)
    params["trainer"]["num_epochs"] = epochs
    built = TrainModel.from_params(params=Params(params), serialization_dir=str(folder), local_rank=0)
    built.trainer.train()
    return {name: value.clone() for name, value in built.trainer.model.state_dict().items()}


NAME = "pointers.start.weight"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Tensor]]:
    folder = tmp_path_factory.mktemp("squad") / "whole"
    return folder, train(folder, 3)


def test_what_is_kept_is_the_average_by_hand(trained: tuple[Path, dict[str, Tensor]], tmp_path: Path) -> None:
    folder, state = trained
    steps = [torch.load(folder / f"model_state_e{epoch}_b0.th")[NAME] for epoch in (1, 2, 3)]
    # Nothing moves before the first step, so that one epoch at decay 0.8 gives the starting value, too.
    first = train(tmp_path / "first", 1)[NAME]
    start = (first - (1 - DECAY) * steps[0]) / DECAY
    average = start
    for value in steps:
        average = DECAY * average + (1 - DECAY) * value
    torch.testing.assert_close(state[NAME], average)
    torch.testing.assert_close(torch.load(folder / "best.th")[NAME], average)
    assert not torch.allclose(average, steps[-1], atol=1e-4)


def test_a_resumed_run_equals_the_uninterrupted_one(trained: tuple[Path, dict[str, Tensor]], tmp_path: Path) -> None:
    train(tmp_path / "broken", 1)
    resumed = train(tmp_path / "broken", 3)
    assert list(resumed) == list(trained[1])
    for name, value in trained[1].items():
        torch.testing.assert_close(resumed[name], value, rtol=0, atol=0)
