"""A misspelt name, and what may have been meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def not_known(name: str, known: Iterable[str]) -> str:
    """The name in quotes, with the nearest known one, or all where none is near."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    if near:
        return f"{name!r} (nearest: {near[0]!r})"
    return f"{name!r} (known: {', '.join(names)})"
