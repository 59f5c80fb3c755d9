"""Explains out-of-memory errors: a batch is too long."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from elmo_tasks.errors import InputError

_CPU_MESSAGE = "can't allocate memory"


@contextmanager
def explain_oom(lengths: Sequence[int], names: Sequence[str], *, hint: str) -> Iterator[None]:
    """
    Replaces an out-of-memory error, on a GPU or a CPU, by an `InputError` that names the longest instance of the batch.

    # Parameters

    lengths, names : `Sequence`
        Of the instances.
    hint : `str`
        What to do about it.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not _is_out_of_memory(error):
            raise
        longest = max(range(len(lengths)), key=lengths.__getitem__)
        problem = (
            f"out of memory on a batch of {len(lengths)} instances padded to {lengths[longest]} tokens, the length of"
            f" {names[longest]}: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        )
        raise InputError(problem, hint=hint) from error


def _is_out_of_memory(error: Exception) -> bool:
    known = isinstance(error, (torch.cuda.OutOfMemoryError, MemoryError))
    return known or _CPU_MESSAGE in str(error)
