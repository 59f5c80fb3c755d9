"""Schedules, checkpoints and moving averages, each of which fails without its patch."""

import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance, Vocabulary
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.data.fields import TensorField
from allennlp.models import Model
from allennlp.training import Checkpointer, GradientDescentTrainer
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.moving_average import ExponentialMovingAverage, MovingAverage

from elmo_tasks.compat.checkpoints import damage
from elmo_tasks.compat.training import silence_autocast_warnings
from elmo_tasks.errors import InputError
from tests.tiny import heard


class Line(Model):
    """A linear regression."""

    def __init__(self) -> None:
        super().__init__(Vocabulary())
        self.linear = torch.nn.Linear(3, 1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": (self.linear(x) - y).pow(2).mean()}


def batches(count: int = 5) -> SimpleDataLoader:
    numbers = torch.randn(count, 4, generator=torch.Generator().manual_seed(7))
    instances = [Instance({"x": TensorField(row[:3]), "y": TensorField(row[3:])}) for row in numbers]
    return SimpleDataLoader(instances, batch_size=1, vocab=Vocabulary())


def trainer_in(folder: Path, *, epochs: int, **parts: Any) -> GradientDescentTrainer:
    """A trainer of a new `Line`; `parts` are built from the model and the optimizer."""
    folder.mkdir(exist_ok=True)
    torch.manual_seed(3)
    model = Line()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    options = {key: build(model, optimizer) for key, build in parts.items()}
    return GradientDescentTrainer(
        model=model,
        optimizer=optimizer,
        data_loader=batches(),
        num_epochs=epochs,
        serialization_dir=str(folder),
        checkpointer=Checkpointer(str(folder), keep_most_recent_by_count=4),
        **options,
    )


def weights_of(trainer: GradientDescentTrainer) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in trainer.model.parameters()])


def uninterrupted(folder: Path) -> torch.Tensor:
    """The weights after four epochs."""
    whole = trainer_in(folder / "whole", epochs=4)
    whole.train()
    return weights_of(whole)


def test_reduce_on_plateau() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    config = {"type": "reduce_on_plateau", "mode": "max", "factor": 0.5, "patience": 0, "verbose": True}
    schedule = LearningRateScheduler.from_params(Params(config), optimizer=optimizer)
    for metric in (0.3, 0.2, 0.4, 0.1):
        schedule.step(metric)
    assert schedule.get_values() == [0.25]


@pytest.mark.parametrize("code", ["?", "int64", "float32", "float64"])
def test_numpy_numbers_are_loaded(tmp_path: Path, code: str) -> None:
    torch.save({"metric": numpy.dtype(code).type(1)}, tmp_path / "state.th")
    assert torch.load(tmp_path / "state.th")["metric"] == 1


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change_a_bit(path: Path) -> None:
    """Damage that only the checksum shows."""
    with zipfile.ZipFile(path) as records:
        entry = max(records.infolist(), key=lambda entry: entry.file_size)
    data = bytearray(path.read_bytes())
    name, extra = struct.unpack_from("<HH", data, entry.header_offset + 26)
    data[entry.header_offset + 30 + name + extra] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damaged", "harm"),
    [
        ("model_state", cut_in_half),
        ("model_state", change_a_bit),
        ("training_state", cut_in_half),
        ("training_state", Path.unlink),
    ],
)
@pytest.mark.parametrize("epochs", [1, 3])
def test_damaged_checkpoint_is_reported_and_the_previous_one_used(
    tmp_path: Path, damaged: str, harm: Callable[[Path], None], epochs: int, caplog: pytest.LogCaptureFixture
) -> None:
    trainer_in(tmp_path, epochs=epochs).train()
    path = tmp_path / f"{damaged}_e{epochs}_b0.th"
    harm(path)
    resumed = trainer_in(tmp_path, epochs=4)
    with heard(caplog, "elmo_tasks.compat.checkpoints"):
        resumed.train()
    assert f"damaged checkpoint: {path}: " in caplog.text
    instead = "the run starts from scratch" if epochs == 1 else "using the previous one, model_state_e2_b0.th"
    assert instead in caplog.text
    assert (tmp_path / f"{path.name}.damaged").exists() == (harm is not Path.unlink)
    assert torch.equal(weights_of(resumed), uninterrupted(tmp_path))
    assert damage(path) is None, "written again"


def test_trainer_state_without_a_model_is_ignored(tmp_path: Path) -> None:
    trainer_in(tmp_path, epochs=3).train()
    (tmp_path / "model_state_e3_b0.th").unlink()
    resumed = trainer_in(tmp_path, epochs=4)
    resumed.train()
    assert torch.equal(weights_of(resumed), uninterrupted(tmp_path))


def test_resumed_run_saves_the_same_checkpoints(tmp_path: Path) -> None:
    """After the second and the fourth of five batches, not after the third."""
    saved = []
    for _ in ("whole", "resumed"):
        trainer = trainer_in(tmp_path, epochs=1)
        trainer._checkpointer = Checkpointer(str(tmp_path), save_every_num_batches=2, keep_most_recent_by_count=None)
        trainer.train()
        saved.append({path.name for path in tmp_path.glob("*.th")})
        for path in [*tmp_path.glob("*e0_b4.th"), *tmp_path.glob("*e1_b0.th")]:
            path.unlink()
    assert saved[0] == saved[1] > {"model_state_e0_b2.th", "model_state_e0_b4.th", "model_state_e1_b0.th"}


def test_failed_save_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(state: object, file: BinaryIO) -> None:
        file.write(b"PK\x03\x04 and then the disk was full")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(InputError, match="training_state_e1_b0.th: cannot write: No space left"):
        trainer_in(tmp_path, epochs=1).train()
    assert [path.name for path in tmp_path.iterdir()] == ["metrics_epoch_0.json"]


def average(model: Model, optimizer: torch.optim.Optimizer) -> MovingAverage:
    return ExponentialMovingAverage(model.named_parameters(), decay=0.99)


def test_resumed_average_equals_the_uninterrupted_one(tmp_path: Path) -> None:
    folders = [tmp_path / "whole", tmp_path / "resumed"]
    whole = trainer_in(folders[0], epochs=6, moving_average=average)
    whole.train()
    trainer_in(folders[1], epochs=3, moving_average=average).train()
    resumed = trainer_in(folders[1], epochs=6, moving_average=average)
    resumed.train()
    assert torch.equal(weights_of(resumed), weights_of(whole))
    unaveraged = torch.load(folders[0] / "model_state_e6_b0.th")["linear.bias"]
    assert not torch.allclose(unaveraged, weights_of(whole)[-1:], atol=1e-3)


def test_elmo_tasks_exponential_has_a_constant_decay() -> None:
    live = torch.nn.Parameter(torch.zeros(1))
    config = Params({"type": "elmo_tasks_exponential", "decay": 0.9})
    constant = MovingAverage.from_params(config, parameters=[("w", live)])
    live.data.fill_(1.0)
    for step in (1, 2):
        constant.apply(step)
    constant.assign_average_value()
    assert live.item() == pytest.approx(1 - 0.9**2)
    with pytest.raises(ConfigurationError, match=r"expected a number from 0 to 1, got 1.5"):
        MovingAverage.from_params(Params({"type": "elmo_tasks_exponential", "decay": 1.5}), parameters=[])


def test_only_the_autocast_warning_is_hidden(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        warnings.simplefilter("always")
        silence_autocast_warnings()
        trainer_in(tmp_path, epochs=1).train()
        warnings.warn_explicit("`torch.cuda.amp.x(args...)` is deprecated", FutureWarning, "f", 1)
    messages = [str(w.message) for w in seen if "torch.cuda.amp" in str(w.message)]
    assert messages == ["`torch.cuda.amp.x(args...)` is deprecated"]
