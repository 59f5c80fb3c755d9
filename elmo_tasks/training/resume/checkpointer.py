"""Checkpoints that are written atomically."""

from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple, Optional, Self
from zipfile import BadZipFile

import numpy
import torch
from allennlp.training.checkpointer import Checkpointer
from allennlp.training.trainer import TrainerCheckpoint
from numpy._core import multiarray
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.formats.tensor_files import require_whole
from elmo_tasks.settings import Positive, Size, require_none, wrong_values
from elmo_tasks.system.files import atomic_write
from elmo_tasks.system.run_names import CHECKPOINT, TRAINING_STATES

NUMPY_SCALARS: list[Any] = [
    multiarray.scalar,
    numpy.dtype,
    *{type(numpy.dtype(code)) for code in "?bhilqBHILQefd"},
]
"""
What `torch.load` needs to read NumPy's booleans, integers and floats: metrics and
learning rates can be such.
"""

SETTINGS: dict[str, Any] = {
    "keep_most_recent_by_count": Optional[Size],
    "save_every_num_batches": Optional[Size],
    "save_every_num_seconds": Optional[Positive],
}
"""The settings of AllenNLP's checkpointer, which does not check them."""

Point = tuple[int, int]
"""Completed epochs, and completed batches of the next one."""


def _save(state: Any, path: Path) -> None:
    with atomic_write(path) as aside, aside.open("wb") as file:
        torch.save(state, file)


class _WithState(NamedTuple):
    """In place of a trainer, whose state is computed once."""

    state: TrainerCheckpoint

    def get_checkpoint_state(self) -> TrainerCheckpoint:
        return self.state


class AtomicCheckpointer(Checkpointer):
    """
    AllenNLP's checkpointer, which leaves an undamaged checkpoint whenever the run is
    killed.

    Both files are written atomically before an older checkpoint is removed.
    """

    @classmethod
    def like(cls, other: Checkpointer) -> Self:
        """
        A checkpointer with the settings of `other`. Raises `InputError` for those with
        which AllenNLP keeps no checkpoint, or fails later.
        """
        found = []
        for key, annotation in SETTINGS.items():
            value = vars(other)[f"_{key}"]
            found += wrong_values(f"checkpointer.{key}", annotation, value)
        require_none(found)
        made = cls.__new__(cls)
        made.__dict__.update(vars(other))
        return made

    @overrides
    def save_checkpoint(self, trainer: Any) -> None:
        state = trainer.get_checkpoint_state()
        if state is None:  # another process writes it
            epochs = trainer._epochs_completed
            self._count_from((epochs, trainer._batches_in_epoch_completed))
            return
        epochs = state.trainer_state["epochs_completed"]
        batches = state.trainer_state["batches_in_epoch_completed"]
        of_trainer, of_model = self._files((epochs, batches))
        _save(state.trainer_state, of_trainer)
        _save(state.model_state, of_model)
        # AllenNLP's method writes no file that is there, and removes older checkpoints.
        super().save_checkpoint(_WithState(state))

    @overrides
    def load_checkpoint(self) -> TrainerCheckpoint | None:
        self._remove_incomplete()
        points = self._find_all_checkpoints()
        if not points:
            return None
        newest = max(points)
        self._count_from(newest)
        of_trainer, of_model = self._files(newest)
        try:
            require_whole(of_trainer)
            require_whole(of_model)
            with torch.serialization.safe_globals(NUMPY_SCALARS):
                return super().load_checkpoint()
        except (
            RuntimeError,
            OSError,
            EOFError,
            UnpicklingError,
            ValueError,
            BadZipFile,
        ) as error:
            problem = f"the newest checkpoint cannot be read: {error}"
            hint = f"remove it and {of_trainer.name}: the one before is used"
            raise InputError(problem, file=of_model, hint=hint) from error

    @overrides
    def _remove_checkpoint(
        self, epochs_completed: int, batches_in_epoch_completed: int
    ) -> None:
        """
        AllenNLP removes all files whose names begin like those of this checkpoint: with
        batch 1 that of batch 10.
        """
        point = (epochs_completed, batches_in_epoch_completed)
        for path in Path(self._serialization_dir).iterdir():
            found = CHECKPOINT.fullmatch(path.name)
            if found is None:
                continue
            if (int(found["epochs"]), int(found["batches"])) == point:
                path.unlink(missing_ok=True)

    def _files(self, point: Point) -> tuple[Path, Path]:
        """
        The trainer's file and the model's, which is written last and completes the
        checkpoint.
        """
        of_trainer = Path(self._training_state_path(*point))
        return of_trainer, Path(self._model_state_path(*point))

    def _count_from(self, point: Point) -> None:
        """
        Makes `save_every_num_batches` save at the same batches as in an uninterrupted
        run.
        """
        epochs, batches = point
        self._last_save_num_epochs_completed = epochs
        self._last_save_num_batches_in_epoch_completed = batches

    def _remove_incomplete(self) -> None:
        """
        Deletes the trainer's file if the run was killed before it wrote the model's.
        """
        for path in Path(self._serialization_dir).glob(TRAINING_STATES):
            point = self._parse_training_state_path(path)
            if point is not None and not self._files(point)[1].exists():
                path.unlink(missing_ok=True)
