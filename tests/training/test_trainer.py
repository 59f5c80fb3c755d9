"""
Exact resumption: runs interrupted anywhere, with everything that an epoch sums up.
"""

import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.models import Model
from allennlp.nn import RegularizerApplicator
from allennlp.nn.regularizers import L2Regularizer
from allennlp.training import Trainer
from allennlp.training.metrics import Average
from torch import nn

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.files import ModelFiles
from elmo_tasks.errors import InputError
from elmo_tasks.training.distributed import process_rank
from tests.distributed import in_processes
from tests.killing import differences
from tests.training.test_resumable import LOADERS, Numbers

DIRECTION = torch.tensor([1.0, -2.0, 0.5])


class Interrupted(BaseException):
    """Interrupts a run."""


class Noisy(Model):
    """
    A penalized regression with dropout, with a metric that only the first epoch has.
    """

    def __init__(self) -> None:
        super().__init__(
            Vocabulary(), RegularizerApplicator([("linear", L2Regularizer(0.01))])
        )
        self.linear = torch.nn.Linear(3, 1)
        self.average = Average()

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        x = x[:, :1] * DIRECTION / 10
        dropped = (
            torch.nn.functional.dropout(x, 0.5, self.training)
            + numpy.random.rand() * self.training
        )
        loss = (self.linear(dropped).squeeze(1) - x.sum(1)).pow(2).mean()
        self.average(loss.item())
        return {"loss": loss}

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        value = float(self.average.get_metric(reset))
        names = ["mean"]
        if value > 0.3:  # of the first training
            names.append("large")
        if value > 0.05:  # also of the first validation
            names.append("fair")
        return dict.fromkeys(names, value)


class Reading(Noisy):
    """One with a frozen model, whose file has a digest."""

    def __init__(self, digest: str) -> None:
        super().__init__()
        files = ModelFiles("bilm", "x", {"weight_file": Path("weights.hdf5")}, digest)
        self.frozen = Layers(nn.Identity(), files)


def trainer_in(
    folder: Path,
    kind: str = "shuffled",
    interrupted_at: int | None = None,
    read_file: str | None = None,
    **options: Any,
) -> Trainer:
    """
    A trainer from a config, with one of the `LOADERS`, of a model that reads a file. It
    is interrupted at a forward pass of this number, counting those in validation.
    """
    folder.mkdir(exist_ok=True)
    random.seed(3)
    numpy.random.seed(3)
    torch.manual_seed(3)
    validation = {"batch_size": 4, "shuffle": True}
    loaders = [
        MultiProcessDataLoader(Numbers(), "11", quiet=True, **keys)
        for keys in (LOADERS[kind], validation)
    ]
    model = Noisy() if read_file is None else Reading(read_file)
    if interrupted_at is not None:
        interrupt_at(model, interrupted_at)
    for made in loaders:
        made.index_with(model.vocab)
    config = {
        "type": "elmo_tasks",
        "num_epochs": 4,
        "optimizer": {"type": "adam", "lr": 0.1},
        "learning_rate_scheduler": {
            "type": "linear_with_warmup",
            "warmup_steps": 5,
            "num_steps_per_epoch": 3,
        },
        "moving_average": {"type": "elmo_tasks_exponential", "decay": 0.7},
        "checkpointer": {"save_every_num_batches": 1},
        "num_gradient_accumulation_steps": 2,
        "enable_default_callbacks": False,
        "run_confidence_checks": False,
    }
    return Trainer.from_params(
        Params(config | options),
        model=model,
        serialization_dir=str(folder),
        data_loader=loaders[0],
        validation_data_loader=loaders[1],
    )


def train(folder: Path, **options: Any) -> dict[str, Any]:
    """Trains to the end, with the output files of `elmo-tasks train`."""
    trainer = trainer_in(folder, **options)
    metrics = trainer.train()
    (folder / "metrics.json").write_text(json.dumps(metrics))
    torch.save(trainer.model.state_dict(), folder / "returned.th")
    return dict(metrics)


def interrupt_at(model: Model, step: int) -> None:
    passes = itertools.count(1)

    def count(module: Model, inputs: Any) -> None:
        if next(passes) == step:
            raise Interrupted

    model.register_forward_pre_hook(count)


@pytest.mark.parametrize(
    ("step", "kind"), list(zip((6, 12, 17, 8, 20, 17), LOADERS, strict=True))
)
def test_an_interrupted_run_equals_an_uninterrupted_one(
    tmp_path: Path, step: int, kind: str
) -> None:
    whole, interrupted = tmp_path / "whole", tmp_path / "interrupted"
    metrics = train(whole, kind=kind, grad_norm=None)  # as in a config: off
    assert {
        "training_loss",
        "training_reg_loss",
        "training_mean",
        "validation_reg_loss",
    } <= set(metrics)
    first, last = (
        json.loads((whole / f"metrics_epoch_{epoch}.json").read_text())
        for epoch in (0, 3)
    )
    assert kind != "shuffled" or first["training_large"] == last["training_large"], (
        "no metric that only the first epoch had"
    )
    with pytest.raises(Interrupted):
        train(interrupted, kind=kind, interrupted_at=step)
    train(interrupted, kind=kind)
    assert differences(interrupted, whole) == []


def test_an_epoch_without_a_batch_is_an_error(tmp_path: Path) -> None:
    trainer = trainer_in(tmp_path)
    loader = MultiProcessDataLoader(Numbers(), "3", batch_size=4, drop_last=True)
    loader.index_with(trainer.model.vocab)
    trainer.data_loader = loader
    with pytest.raises(InputError, match="data_loader: expected batches, got none"):
        trainer.train()
    with pytest.raises(InputError, match="validation_data_loader: drop_last leaves"):
        type(trainer)(Noisy(), trainer.optimizer, loader, validation_data_loader=loader)


def test_metrics_of_the_best_epoch_are_its_own(tmp_path: Path) -> None:
    """Not those that only an earlier best epoch had."""
    metrics = train(tmp_path)
    names = []
    for epoch in range(4):
        file = tmp_path / f"metrics_epoch_{epoch}.json"
        names.append(set(json.loads(file.read_text())))
    assert "best_validation_fair" in names[0]
    assert metrics["best_epoch"] > 0
    assert "best_validation_fair" not in metrics
    assert "best_validation_fair" not in names[-1]


def test_results_are_those_of_gradient_descent(tmp_path: Path) -> None:
    ours, theirs = (
        train(tmp_path / kind, type=kind) for kind in ("elmo_tasks", "gradient_descent")
    )
    for name in ours.keys() - {"training_duration"}:
        assert "memory" in name or ours[name] == theirs[name]


@pytest.mark.parametrize("ending", [{}, {"patience": 1, "num_epochs": 40}])
def test_a_finished_run_is_not_trained_further(
    tmp_path: Path, ending: dict[str, Any]
) -> None:
    """
    By the number of epochs or by early stopping; it was interrupted before metrics and
    archive were written.
    """
    train(tmp_path / "whole", **ending)
    train(tmp_path / "again", **ending)
    for name in ("metrics.json", "returned.th"):
        (tmp_path / "again" / name).unlink()
    train(tmp_path / "again", interrupted_at=1, **ending)
    assert differences(tmp_path / "again", tmp_path / "whole") == []
    assert not (tmp_path / "again" / "metrics_epoch_39.json").exists()


def test_best_weights_that_a_kill_left_half_written(tmp_path: Path) -> None:
    """They are written again from the checkpoint."""
    train(tmp_path, num_epochs=1)
    best = tmp_path / "best.th"
    whole = best.read_bytes()
    best.write_bytes(b"half")
    train(tmp_path, num_epochs=1)
    assert best.read_bytes() == whole


def test_processes_have_different_seeds(tmp_path: Path) -> None:
    def seed() -> int:
        trainer_in(tmp_path / str(process_rank()))
        return torch.initial_seed()

    assert in_processes(3, seed) == [3, 3 + 1, 3 + 2]


def of_processes(
    folder: Path, files: tuple[str, str], **options: Any
) -> list[dict[str, Any]]:
    """The metrics of two processes that read these files, each with its own folder."""

    def act() -> dict[str, Any]:
        rank = process_rank()
        return train(folder / str(rank), read_file=files[rank], **options)

    return in_processes(2, act)


def test_processes_with_other_files_of_the_bilm(tmp_path: Path) -> None:
    for error in of_processes(tmp_path, ("a", "b"), num_epochs=1):
        assert isinstance(error, InputError)
        assert "process 1 reads other files of a frozen source" in str(error)
        assert "['b']" in str(error)
    assert not list(tmp_path.glob("*/metrics_epoch_*.json"))
    for metrics in of_processes(tmp_path, ("a", "a"), num_epochs=1):
        assert metrics["epoch"] == 0


def test_processes_with_other_checkpoints(tmp_path: Path) -> None:
    """
    The second one does not see the checkpoint that both have made. Its frozen model
    stays the one on record.
    """
    both: dict[str, Any] = {"distributed": True, "world_size": 2}

    def begin() -> None:
        trainer_in(tmp_path / "0", read_file="a", num_epochs=1, **both).train()

    assert in_processes(2, begin) == [None, None]
    for error in of_processes(tmp_path, ("b", "b"), **both):
        assert isinstance(error, InputError)
        assert "expected one checkpoint on all processes" in str(error)
        assert "[(1, 0), (0, 0)]" in str(error)
    (record,) = json.loads((tmp_path / "0/model.json").read_text())
    assert record["sha256"] == "a"


def test_checkpoints_of_another_trainer_are_rejected(tmp_path: Path) -> None:
    train(tmp_path, type="gradient_descent", num_epochs=1)
    with pytest.raises(
        InputError, match='of another trainer .set trainer.type to "gradient_descent"'
    ):
        train(tmp_path)
