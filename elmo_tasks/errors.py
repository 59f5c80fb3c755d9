"""Errors that the user can fix: an invalid file, a wrong setting, a missing corpus."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_LONGEST = 500
"""The maximal length of a line in a message; longer ones are shortened in the middle."""

_SHOWN = 60
"""The maximal length of a value in a message."""

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class InputError(ValueError):
    """
    An error in the input of the user. The command line shows its message without a traceback.

    # Parameters

    - `problem`: `expected X, got Y`.
    - `line`: counted from 1.
    - `hint`: what to do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        advice = "" if hint is None else f" ({hint})"
        super().__init__(f"{where}{_legible(problem)}{advice}")
        self.file = None if file is None else str(file)
        self.line = line

    def __str__(self) -> str:
        return str(self.args[-1])  # AllenNLP inserts text before it


def shown(value: Any) -> str:
    """The `repr` of a value, truncated to 60 characters."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@contextmanager
def needs(packages: str) -> Iterator[None]:
    """Replaces the error of a failed import by an `InputError` that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(f"this needs the package {error.name}", hint=f"pip install {packages}") from error


def _legible(problem: str) -> str:
    """The text with long lines shortened and control characters escaped."""
    lines = (_CONTROL.sub(lambda found: repr(found[0])[1:-1], line) for line in problem.split("\n"))
    half = _LONGEST // 2
    return "\n".join(line if len(line) <= _LONGEST else f"{line[:half]} ... {line[-half:]}" for line in lines)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM, with a message that says how to go on."""
