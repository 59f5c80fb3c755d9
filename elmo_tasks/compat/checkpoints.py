"""Patches of `allennlp.training.Checkpointer`: checkpoints are written atomically and verified before use."""

import logging
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import torch
from allennlp.training.checkpointer import Checkpointer
from numpy._core import multiarray

from elmo_tasks.atomic import atomic_write

logger = logging.getLogger(__name__)

NUMBER_CODES = "?bhilqBHILQefd"
"""NumPy's booleans, integers and floats up to double precision."""

DAMAGED = ".damaged"
"""The suffix that the files of a damaged checkpoint get."""

Point = tuple[int, int]
"""Completed epochs, and completed batches of the next one."""


def allow_numpy_scalars() -> None:
    """
    Lets `torch.load` read NumPy numbers.

    Since PyTorch 2.6 it unpickles a fixed list of types. A metric or a learning rate can be a NumPy scalar (`cosine`
    schedules, coreference scores), with which `--recover` fails. Only the constructor of scalars and the types of
    numbers are added. The patch can go when AllenNLP's trainer state has Python numbers alone.
    """
    number_types = {type(numpy.dtype(code)) for code in NUMBER_CODES}
    torch.serialization.add_safe_globals([multiarray.scalar, numpy.dtype, *number_types])


def damage(path: Path) -> str | None:
    """The damage of a file written by `torch.save`, which is read completely; `None` if there is none."""
    try:
        with zipfile.ZipFile(path) as records:
            broken = records.testzip()
    except FileNotFoundError:
        return "the file is missing"
    except OSError:
        raise
    except Exception as error:  # zipfile raises many types for damaged files
        return f"the file is damaged ({error})"
    return None if broken is None else f"the file is damaged (checksum of {broken})"


def write_checkpoints_atomically() -> None:
    """
    Makes `--recover` find an undamaged checkpoint, whenever the run was killed.

    AllenNLP writes checkpoints in place and uses the newest one, even if the disk was full or the run was killed
    meanwhile. Here both files are written atomically before an older checkpoint is removed, and verified before they
    are used. Sharded checkpoints are left to AllenNLP. The patch can go when AllenNLP does the same.
    """
    Checkpointer.save_checkpoint = _atomic(Checkpointer.save_checkpoint)
    Checkpointer.load_checkpoint = _verifying(Checkpointer.load_checkpoint)


def _atomic(save: Callable[[Checkpointer, Any], None]) -> Callable[[Checkpointer, Any], None]:
    """`save_checkpoint`, of which only the removal of old checkpoints remains."""

    def save_checkpoint(checkpointer: Checkpointer, trainer: Any) -> None:
        if checkpointer.state_is_sharded:
            save(checkpointer, trainer)
            return
        state = trainer.get_checkpoint_state()
        if state is None:  # another process writes it
            _count_from(checkpointer, (trainer._epochs_completed, trainer._batches_in_epoch_completed))
            return
        point = state.trainer_state["epochs_completed"], state.trainer_state["batches_in_epoch_completed"]
        for part, path in zip((state.trainer_state, state.model_state), _files(checkpointer, point), strict=True):
            with atomic_write(path) as aside, aside.open("wb") as file:
                torch.save(part, file)
        save(checkpointer, SimpleNamespace(get_checkpoint_state=lambda: state))

    return save_checkpoint


def _verifying(load: Callable[[Checkpointer], Any]) -> Callable[[Checkpointer], Any]:
    """`load_checkpoint` after damaged checkpoints are renamed."""

    def load_checkpoint(checkpointer: Checkpointer) -> Any:
        if checkpointer.state_is_sharded:
            return load(checkpointer)
        _remove_incomplete(checkpointer)
        points = sorted(checkpointer._find_all_checkpoints())
        while points:
            point = points.pop()
            files = _files(checkpointer, point)
            problems = [f"{path}: {problem}" for path in files if (problem := damage(path))]
            if not problems:
                _count_from(checkpointer, point)
                break
            previous = _files(checkpointer, points[-1])[1].name if points else None
            instead = f"using the previous one, {previous}" if previous else "the run starts from scratch"
            logger.warning("damaged checkpoint: %s; %s", "; ".join(problems), instead)
            for path in files:
                with suppress(FileNotFoundError):
                    path.replace(path.with_name(path.name + DAMAGED))
        return load(checkpointer)

    return load_checkpoint


def _files(checkpointer: Checkpointer, point: Point) -> tuple[Path, Path]:
    """The trainer's file and the model's, which is written last and completes the checkpoint."""
    return Path(checkpointer._training_state_path(*point)), Path(checkpointer._model_state_path(*point))


def _count_from(checkpointer: Checkpointer, point: Point) -> None:
    """Makes `save_every_num_batches` save at the same batches as in an uninterrupted run."""
    checkpointer._last_save_num_epochs_completed, checkpointer._last_save_num_batches_in_epoch_completed = point


def _remove_incomplete(checkpointer: Checkpointer) -> None:
    """Deletes the trainer's file if the run was killed before it wrote the model's."""
    for path in Path(checkpointer._serialization_dir).glob("training_state_e*_b*.th"):
        point = checkpointer._parse_training_state_path(path)
        if point is not None and not _files(checkpointer, point)[1].exists():
            path.unlink(missing_ok=True)
