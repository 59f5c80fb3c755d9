"""Range checks of numbers in configs."""

import math
import os

from elmo_tasks.errors import InputError


def require_sizes(**sizes: object) -> None:
    """Raises `InputError` if an argument is not an integer of at least 1."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise InputError(f"{name}: expected an integer of at least 1, got {size!r}")


def require_workers(workers: int) -> None:
    """Raises `InputError` if the number of processes is below 1, or above 16 and twice the cores."""
    require_sizes(workers=workers)
    if workers > (most := max(16, 2 * (os.cpu_count() or 1))):
        raise InputError(f"workers: expected at most {most} on this machine, got {workers}")


def require_dropouts(**rates: object) -> None:
    """Raises `InputError` if an argument is not a number of at least 0 and below 1."""
    for name, rate in rates.items():
        if not 0 <= _number(rate) < 1:
            raise InputError(f"{name}: expected a number of at least 0 and below 1, got {rate!r}")


def require_factors(**factors: object) -> None:
    """Raises `InputError` if an argument is not a finite number of at least 0."""
    for name, factor in factors.items():
        if not 0 <= _number(factor) < math.inf:
            raise InputError(f"{name}: expected a number of at least 0, got {factor!r}")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
