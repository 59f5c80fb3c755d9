"""Checks of numbers that configs set, so that the same mistake is the same clear error everywhere."""

import math

from elmo_tasks.errors import InputError


def require_sizes(**sizes: object) -> None:
    """
    # Raises

    `InputError`
        If one of these is no whole number of at least 1.
    """
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise InputError(f"{name} must be a whole number of at least 1, found {size!r}")


def require_dropouts(**shares: object) -> None:
    """
    # Raises

    `InputError`
        If one of these is no share that can be dropped.
    """
    for name, share in shares.items():
        if not 0 <= _number(share) < 1:
            raise InputError(f"{name} must be at least 0 and below 1, found {share!r}")


def require_factors(**factors: object) -> None:
    """
    # Raises

    `InputError`
        If one of these is no number of at least 0.
    """
    for name, factor in factors.items():
        if not 0 <= _number(factor) < math.inf:
            raise InputError(f"{name} must be a number of at least 0, found {factor!r}")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
