"""Checkpoints are atomic, and verified before a run resumes from them."""

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy
import pytest
import torch
from allennlp.data import Instance, Vocabulary
from allennlp.data.data_loaders import SimpleDataLoader
from allennlp.data.fields import TensorField
from allennlp.models import Model
from allennlp.training import GradientDescentTrainer

from elmo_tasks.errors import InputError
from elmo_tasks.training.checkpointer import AtomicCheckpointer, damage
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


def trainer_in(folder: Path, *, epochs: int) -> GradientDescentTrainer:
    """A trainer of a new `Line`."""
    folder.mkdir(exist_ok=True)
    torch.manual_seed(3)
    model = Line()
    return GradientDescentTrainer(
        model=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.05),
        data_loader=batches(),
        num_epochs=epochs,
        serialization_dir=str(folder),
        checkpointer=AtomicCheckpointer(str(folder), keep_most_recent_by_count=4),
    )


def weights_of(trainer: GradientDescentTrainer) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in trainer.model.parameters()])


def uninterrupted(folder: Path) -> torch.Tensor:
    """The weights after four epochs."""
    whole = trainer_in(folder / "whole", epochs=4)
    whole.train()
    return weights_of(whole)


@pytest.mark.parametrize("code", ["?", "int64", "float64"])
def test_numpy_numbers_are_loaded(tmp_path: Path, code: str) -> None:
    for name in ("model_state_e1_b0.th", "training_state_e1_b0.th"):
        torch.save({"metric": numpy.dtype(code).type(1)}, tmp_path / name)
    safe = set(torch.serialization.get_safe_globals())
    loaded = AtomicCheckpointer(tmp_path).load_checkpoint()
    assert loaded is not None and loaded.trainer_state == {"metric": 1}
    assert set(torch.serialization.get_safe_globals()) == safe, "only this load reads them"


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
    with heard(caplog, "elmo_tasks.training.checkpointer"):
        resumed.train()
    assert f"damaged checkpoint: {path}: " in caplog.text
    instead = "the run starts from scratch" if epochs == 1 else "using the previous one, model_state_e2_b0.th"
    assert instead in caplog.text
    assert (tmp_path / f"{path.name}.damaged").exists() == (harm is not Path.unlink)
    assert torch.equal(weights_of(resumed), uninterrupted(tmp_path))
    assert damage(path) is None, "written again"


def test_resumed_run_saves_the_same_checkpoints(tmp_path: Path) -> None:
    """After the second and the fourth of five batches, not after the third."""
    saved = []
    for _ in ("whole", "resumed"):
        trainer = trainer_in(tmp_path, epochs=1)
        trainer._checkpointer = AtomicCheckpointer(
            str(tmp_path), save_every_num_batches=2, keep_most_recent_by_count=None
        )
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
