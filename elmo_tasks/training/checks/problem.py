"""One problem of a config."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from elmo_tasks.errors import nearest
from elmo_tasks.settings import Wrong
from elmo_tasks.training.nested import below

SHOWN_CHARACTERS = 60
LISTED_NAMES = 12


class Problem(NamedTuple):
    """
    A key of a config, as `-o` writes it (`model.encoder.hidden_sizes.0`), what it
    should be, and what it is; or, if `expected` is empty, what an error says of it.
    """

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        path = self.path or "config"
        if not self.expected:
            return f"{path}: {self.got}"
        return f"{path}: expected {self.expected}, got {self.got}"

    @classmethod
    def of(cls, wrong: Wrong, path: str = "") -> Self:
        """
        The problem of an invalid setting, whose key is a part of the object at `path`.
        """
        return cls(below(path, wrong.key), wrong.expected, shown(wrong.value))


def one_for_each_key(*checks: Iterable[Problem]) -> list[Problem]:
    """
    The problems of several checks, only the first for each key: an empty path, for
    instance, is not also reported as a missing file.
    """
    problems: list[Problem] = []
    for of_one_check in checks:
        told = {problem.path for problem in problems}
        for problem in of_one_check:
            if problem.path not in told:
                problems.append(problem)
    return problems


def unknown(
    path: str,
    expected: str,
    got: str,
    known: Iterable[str],
    *,
    name: str,
    more: str = "",
) -> Problem:
    """
    The problem of a name that is none of those known. It tells the nearest one, or else
    all, and then what there is `more`.
    """
    ordered = sorted(known)
    near = nearest(name, ordered)
    if near is not None:
        return Problem(path, expected, f"{got}; nearest: {near}")
    names = ", ".join(ordered[:LISTED_NAMES]) or "it has none"
    rest = len(ordered) - LISTED_NAMES
    if rest > 0:
        names += f" and {rest} more"
    return Problem(path, f"{expected} ({names}{more})", got)


def shown(value: Any) -> str:
    """A value as JSON, truncated."""
    text = json.dumps(value, default=str)
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[: SHOWN_CHARACTERS - 3]}..."
