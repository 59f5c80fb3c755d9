"""What checkpoints a run keeps, and resumes from."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast
from zipfile import ZipFile

import numpy
import pytest
import torch
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.errors import InputError
from elmo_tasks.training.resume.checkpointer import AtomicCheckpointer
from tests.killing import differences
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


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def with_another_bit(content: bytes) -> bytes:
    """In the largest tensor, where torch sees nothing."""
    with ZipFile(io.BytesIO(content)) as records:
        largest = max(records.infolist(), key=lambda record: record.file_size)
        place = content.index(records.read(largest)) + largest.file_size // 2
    return content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :]


@pytest.mark.parametrize("damaged", [half, with_another_bit])
@pytest.mark.parametrize("name", ["model_state_e3_b0.th", "training_state_e3_b0.th"])
def test_a_damaged_checkpoint_is_named(
    name: str, damaged: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """Without it, the run resumes from the one before."""
    train_epochs(tmp_path / "run", 3)
    path = tmp_path / "run" / name
    path.write_bytes(damaged(path.read_bytes()))
    remedy = r"model_state_e3_b0\.th: .* .remove it and training_state_e3_b0\.th"
    with pytest.raises(InputError, match=remedy):
        train_epochs(tmp_path / "run", 4)
    for file in path.parent.glob("*_state_e3_b0.th"):
        file.unlink()
    train_epochs(tmp_path / "run", 4)
    train_epochs(tmp_path / "whole", 4)
    assert differences(tmp_path / "run", tmp_path / "whole") == []


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
