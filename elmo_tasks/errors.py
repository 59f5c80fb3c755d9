"""Errors that are the user's to mend: a bad file, a wrong setting, a missing corpus."""

from pathlib import Path


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
        super().__init__(f"{where}{problem}{advice}")
        self.file = None if file is None else str(file)
        self.line = line
