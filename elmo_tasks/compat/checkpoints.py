"""Checkpoints that load again, whatever happened while they were written."""

import zipfile
from collections.abc import Callable

import numpy
import torch
from allennlp.training.checkpointer import Checkpointer
from numpy._core import multiarray

NUMBER_CODES = "?bhilqBHILQefd"
"""NumPy's booleans, integers and floats up to double precision."""

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


def is_whole(checkpointer: Checkpointer, point: Point) -> bool:
    """Whether both files of a checkpoint were written to their end, where a zip has its table."""
    return zipfile.is_zipfile(checkpointer._model_state_path(*point)) and zipfile.is_zipfile(
        checkpointer._training_state_path(*point)
    )


def whole_points(
    find_all: Callable[[Checkpointer], set[Point]],
) -> Callable[[Checkpointer], set[Point]]:
    """`Checkpointer._find_all_checkpoints` without the half-written ones."""

    def find_whole(checkpointer: Checkpointer) -> set[Point]:
        return {point for point in find_all(checkpointer) if is_whole(checkpointer, point)}

    vars(find_whole)["all_points"] = find_all
    return find_whole


def remove_half_written(checkpointer: Checkpointer) -> None:
    """Deletes what an interrupted save left; shards of several processes are left alone."""
    if checkpointer.state_is_sharded or not checkpointer._is_primary:
        return
    find_whole = Checkpointer._find_all_checkpoints
    for point in find_whole.all_points(checkpointer) - find_whole(checkpointer):
        checkpointer._remove_checkpoint(*point)


def save_or_leave_nothing(
    save: Callable[[Checkpointer, object], None],
) -> Callable[[Checkpointer, object], None]:
    """`Checkpointer.save_checkpoint` that starts on clean ground and cleans up when it fails."""

    def save_whole(checkpointer: Checkpointer, trainer: object) -> None:
        remove_half_written(checkpointer)
        try:
            save(checkpointer, trainer)
        except BaseException:
            remove_half_written(checkpointer)
            raise

    return save_whole


def skip_half_written() -> None:
    """
    Lets `--recover` pass over a checkpoint that was being written when the run ended.

    AllenNLP takes the newest model state for a checkpoint, also where the disk was full or the run
    was killed before both files were written: the next `--recover` fails, or would never write
    that checkpoint anew. It can go when AllenNLP writes checkpoints under another name first.
    """
    if hasattr(Checkpointer._find_all_checkpoints, "all_points"):
        return
    Checkpointer._find_all_checkpoints = whole_points(Checkpointer._find_all_checkpoints)
    Checkpointer.save_checkpoint = save_or_leave_nothing(Checkpointer.save_checkpoint)
