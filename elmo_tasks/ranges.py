"""Range checks of numbers in configs."""

import os

from elmo_tasks.errors import InputError


def require_sizes(**sizes: object) -> None:
    """Raises `InputError` if an argument is neither an integer of at least 1 nor `None`, for no limit."""
    for name, size in sizes.items():
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
            raise InputError(f"{name}: expected an integer of at least 1, got {size!r}")


def require_workers(workers: int) -> None:
    """Raises `InputError` if the number of processes is below 1, or above 16 and twice the cores."""
    require_sizes(workers=workers)
    if workers > (most := max(16, 2 * (os.cpu_count() or 1))):
        raise InputError(f"workers: expected at most {most} on this machine, got {workers}")
