"""Checkpoints are atomic, and verified before a run resumes from them."""

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy
import pytest
import torch
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.training.resume.checkpointer import AtomicCheckpointer, damage
from tests.killing import differences
from tests.tiny import heard
from tests.training.test_trainer import train


def train_epochs(folder: Path, epochs: int, **options: Any) -> Any:
    keep = {
        "checkpointer": {"keep_most_recent_by_count": 4},
        "learning_rate_scheduler": None,
    }
    return train(folder, num_epochs=epochs, **keep | options)


@pytest.mark.parametrize("code", ["?", "int64", "float64"])
def test_numpy_numbers_are_loaded(tmp_path: Path, code: str) -> None:
    for name in ("model_state_e1_b0.th", "training_state_e1_b0.th"):
        torch.save({"metric": numpy.dtype(code).type(1)}, tmp_path / name)
    safe = set(torch.serialization.get_safe_globals())
    loaded = AtomicCheckpointer(tmp_path).load_checkpoint()
    assert loaded is not None and loaded.trainer_state == {"metric": 1}
    assert set(torch.serialization.get_safe_globals()) == safe, (
        "only this load reads them"
    )


class Trained(NamedTuple):
    """In place of a trainer, after so many batches."""

    batches: int

    def get_checkpoint_state(self) -> TrainerCheckpoint:
        point = {"epochs_completed": 0, "batches_in_epoch_completed": self.batches}
        return TrainerCheckpoint({}, point)


def test_removing_a_checkpoint_leaves_files_with_similar_names(tmp_path: Path) -> None:
    checkpointer = AtomicCheckpointer(tmp_path, keep_most_recent_by_count=2)
    (tmp_path / "model_state_e0_b1_mine.th").touch()
    for batches in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 100):
        checkpointer.save_checkpoint(cast(Any, Trained(batches)))
    assert {path.name for path in tmp_path.iterdir()} == {
        "model_state_e0_b1_mine.th",
        "model_state_e0_b11.th",
        "training_state_e0_b11.th",
        "model_state_e0_b100.th",
        "training_state_e0_b100.th",
    }


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
    tmp_path: Path,
    damaged: str,
    harm: Callable[[Path], None],
    epochs: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    train_epochs(tmp_path / "run", epochs)
    path = tmp_path / "run" / f"{damaged}_e{epochs}_b0.th"
    harm(path)
    with heard(caplog, "elmo_tasks.training.resume.checkpointer"):
        train_epochs(tmp_path / "run", 4)
    assert f"damaged checkpoint: {path}: " in caplog.text
    instead = "using the previous one, model_state_e2_b0.th"
    if epochs == 1:
        instead = "the run starts from scratch"
    assert instead in caplog.text
    set_aside = set()
    for file in path.parent.glob("*.damaged"):
        set_aside.add(file.name)
        file.rename(tmp_path / file.name)
    was_there = harm is not Path.unlink
    assert (f"{path.name}.damaged" in set_aside) == was_there
    train_epochs(tmp_path / "whole", 4)
    assert differences(tmp_path / "run", tmp_path / "whole") == []
    assert damage(path) is None, "written again"


def test_resumed_run_saves_the_same_checkpoints(tmp_path: Path) -> None:
    """After the second and the fourth of six batches, not after the third."""
    every = {"save_every_num_batches": 2, "keep_most_recent_by_count": None}
    saved = []
    for _ in ("whole", "resumed"):
        train_epochs(tmp_path, 1, checkpointer=every, num_gradient_accumulation_steps=1)
        saved.append({path.name for path in tmp_path.glob("*_state_*.th")})
        for path in tmp_path.glob("*_state_*.th"):
            if "e0_b2" not in path.name:
                path.unlink()
    assert saved[0] == saved[1]
    assert saved[0] > {
        "model_state_e0_b2.th",
        "model_state_e0_b4.th",
        "model_state_e1_b0.th",
    }
