"""A misspelt name, and what may have been meant."""

from collections.abc import Iterable

from elmo_tasks.checks.problem import nearest


def not_known(name: str, known: Iterable[str]) -> str:
    """The name in quotes, with the nearest known one, or all where none is near."""
    names = sorted(known)
    near = nearest(name, names)
    return f"{name!r} (nearest: {near!r})" if near else f"{name!r} (known: {', '.join(names)})"
