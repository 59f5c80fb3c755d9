"""Checkpoints that load again, whatever happened while they were written or since."""

import logging
import zipfile
from collections.abc import Callable, Iterable
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
"""What the files of a damaged checkpoint end in afterwards: they are kept, and taken for a checkpoint no more."""

Point = tuple[int, int]
"""Epochs completed, and batches completed in the epoch after them."""


def allow_numpy_scalars() -> None:
    """
    Lets `torch.load` read NumPy numbers, and nothing else that it would refuse.

    Since PyTorch 2.6 `torch.load` unpickles a fixed list of types. A metric or a learning rate that
    is a NumPy scalar (`cosine` schedules, coreference scores) ends up in the trainer state, and
    `--recover` then fails with an `UnpicklingError`. Only the constructor of scalars and the number
    types join the list: no object, no function. It can go when AllenNLP's trainer state holds
    Python numbers alone.
    """
    number_types = {type(numpy.dtype(code)) for code in NUMBER_CODES}
    torch.serialization.add_safe_globals([multiarray.scalar, numpy.dtype, *number_types])


def damage(path: Path) -> str | None:
    """
    What is wrong with a file of `torch.save`, read to its end and compared with its checksums; `None`
    where nothing is.

    # Raises

    OSError
        where the file is there and cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as records:
            broken = records.testzip()
    except FileNotFoundError:
        return "the file is missing"
    except OSError:
        raise
    except Exception as error:  # zipfile raises a dozen kinds, whatever the bytes drive it to
        return f"it is not as it was written ({error})"
    return None if broken is None else f"it is not as it was written (checksum of {broken})"


def files_of(checkpointer: Checkpointer, point: Point) -> tuple[Path, Path]:
    """The trainer's file and the model's; the model's is written last, and makes the checkpoint."""
    return Path(checkpointer._training_state_path(*point)), Path(checkpointer._model_state_path(*point))


def written_whole(
    save: Callable[[Checkpointer, Any], None],
) -> Callable[[Checkpointer, Any], None]:
    """`Checkpointer.save_checkpoint`, left with nothing but the older checkpoints to remove."""

    def save_checkpoint(checkpointer: Checkpointer, trainer: Any) -> None:
        if checkpointer.state_is_sharded:
            save(checkpointer, trainer)
            return
        state = trainer.get_checkpoint_state()
        if state is None:  # another process writes it; AllenNLP would try again here after every further batch
            count_from(checkpointer, (trainer._epochs_completed, trainer._batches_in_epoch_completed))
            return
        point = state.trainer_state["epochs_completed"], state.trainer_state["batches_in_epoch_completed"]
        for part, path in zip((state.trainer_state, state.model_state), files_of(checkpointer, point), strict=True):
            with atomic_write(path) as aside, aside.open("wb") as file:
                torch.save(part, file)
        save(checkpointer, SimpleNamespace(get_checkpoint_state=lambda: state))

    vars(save_checkpoint)["writes_aside"] = True
    return save_checkpoint


def newest_whole(load: Callable[[Checkpointer], Any]) -> Callable[[Checkpointer], Any]:
    """`Checkpointer.load_checkpoint` after every damaged checkpoint newer than the newest whole one is named."""

    def load_checkpoint(checkpointer: Checkpointer) -> Any:
        points = [] if checkpointer.state_is_sharded else sorted(checkpointer._find_all_checkpoints())
        remove_first_halves(checkpointer)
        while points:
            point = points.pop()
            files = files_of(checkpointer, point)
            problems = [f"{path}: {problem}" for path in files if (problem := damage(path))]
            if not problems:
                count_from(checkpointer, point)
                break
            before = files_of(checkpointer, points[-1])[1].name if points else None
            instead = "the run begins anew" if before is None else f"the one before is used, {before}"
            logger.warning("damaged checkpoint: %s; %s", "; ".join(problems), instead)
            set_aside(files)
        return load(checkpointer)

    return load_checkpoint


def count_from(checkpointer: Checkpointer, point: Point) -> None:
    """So that `save_every_num_batches` saves after a break where it would have saved without."""
    checkpointer._last_save_num_epochs_completed, checkpointer._last_save_num_batches_in_epoch_completed = point


def remove_first_halves(checkpointer: Checkpointer) -> None:
    """Deletes what a run left that was killed after the trainer's file of a checkpoint and before the model's."""
    if checkpointer.state_is_sharded:
        return
    for path in Path(checkpointer._serialization_dir).glob("training_state_e*_b*.th"):
        point = checkpointer._parse_training_state_path(path)
        if point is not None and not files_of(checkpointer, point)[1].exists():
            path.unlink(missing_ok=True)


def set_aside(files: Iterable[Path]) -> None:
    """Renames both files of a checkpoint of which one is damaged."""
    for path in files:
        with suppress(FileNotFoundError):
            path.replace(path.with_name(path.name + DAMAGED))


def keep_checkpoints_whole() -> None:
    """
    Lets `--recover` find a checkpoint that is whole, whenever the run was killed.

    AllenNLP writes checkpoints in place, the model's file first, and takes the newest for one, also
    where the disk was full or the run was killed on the way: the next `--recover` fails, or would
    never write that checkpoint anew. Here both files are written aside, flushed and renamed before an
    older one goes, and read whole before they are used. Shards of several processes are left to
    AllenNLP. It can go when AllenNLP does the same.
    """
    if hasattr(Checkpointer.save_checkpoint, "writes_aside"):
        return
    Checkpointer.save_checkpoint = written_whole(Checkpointer.save_checkpoint)
    Checkpointer.load_checkpoint = newest_whole(Checkpointer.load_checkpoint)
