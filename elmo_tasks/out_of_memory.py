"""Explains out-of-memory errors: a batch is too long."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from elmo_tasks.errors import InputError

_CPU_MESSAGE = "can't allocate memory"


@contextmanager
def explain_oom(lengths: Sequence[int], names: Sequence[str], *, hint: str) -> Iterator[None]:
    """Replaces an out-of-memory error by an `InputError` that names the longest instance of the batch."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        is_oom = isinstance(error, (torch.cuda.OutOfMemoryError, MemoryError)) or _CPU_MESSAGE in str(error)
        if not is_oom:
            raise
        longest = max(range(len(lengths)), key=lengths.__getitem__)
        problem = (
            f"out of memory on a batch of {len(lengths)} instances padded to {lengths[longest]} tokens, the length of"
            f" {names[longest]}: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        )
        raise InputError(problem, hint=hint) from error
