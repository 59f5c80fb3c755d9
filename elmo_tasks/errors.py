"""Errors that are the user's to mend: a bad file, a wrong setting, a missing corpus."""

import re
from pathlib import Path
from typing import Any

_LONGEST = 500
"""Characters of a line of a message; what is beyond is cut out of its middle."""

_SHOWN = 60
"""Characters of a value in a message."""

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class InputError(ValueError):
    """
    One mistake in what the user gave, told in one line: where, what was wanted and what came, what to do.

    The command line shows this message alone, without a traceback.

    # Parameters

    problem : `str`
        What was wanted and what came instead.
    file : `str` or `Path`, optional
        The file that holds the mistake.
    line : `int`, optional
        Its line, counted from 1.
    hint : `str`, optional
        What to do about it.
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
        return str(self.args[-1])  # AllenNLP puts remarks before it


def shown(value: Any) -> str:
    """A value as an error message shows it: at most 60 characters of its `repr`."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _legible(problem: str) -> str:
    """The text with long lines shortened and control characters spelt out: bad files hold words of any kind."""
    lines = (_CONTROL.sub(lambda found: repr(found[0])[1:-1], line) for line in problem.split("\n"))
    half = _LONGEST // 2
    return "\n".join(line if len(line) <= _LONGEST else f"{line[:half]} ... {line[-half:]}" for line in lines)
