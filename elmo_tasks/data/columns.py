"""CoNLL column files: a token a line, blanks between columns, an empty line after a sentence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from sys import intern

from elmo_tasks.data.files import open_text, refuse_carriage_return
from elmo_tasks.errors import InputError

_DOCUMENT_START = "-DOCSTART-"
# `str.split()` would also cut at no-break spaces, which are part of some tokens.
_GAP = re.compile(r"[ \t]+")

LONGEST_SENTENCE = 2**15
"""Tokens of a sentence at most."""


@dataclass(frozen=True, slots=True)
class ColumnSentence:
    """
    One sentence of a column file.

    # Parameters

    columns : `tuple[tuple[str, ...], ...]`
        One tuple of T strings per column, in file order.
    line : `int`
        The line of the first token; token t stands on line `line + t`.
    """

    columns: tuple[tuple[str, ...], ...]
    line: int


def read_columns(path: str | Path, *, min_columns: int = 2, corpus_hint: str | None = None) -> Iterator[ColumnSentence]:
    """
    Streams the sentences of a column file, plain or gzip. `-DOCSTART-` lines separate, and belong
    to no sentence.

    # Parameters

    path : `str` or `Path`
        The file.
    min_columns : `int`
        How many columns the first token line must have. All others must have exactly as many as
        that line has.
    corpus_hint : `str`, optional
        Where the corpus comes from, said when the file is missing.

    # Raises

    `InputError`
        If a line has too few or too many columns, if a sentence does not end, or if the file holds no
        sentence; besides, whatever `open_text` raises.
    """
    rows: list[list[str]] = []
    checker = _RowChecker(path, min_columns)
    number = 0
    for number, line in open_text(path, corpus_hint=corpus_hint):
        fields = checker.split(line, number)
        if len(rows) > LONGEST_SENTENCE:
            problem = f"sentences of at most {LONGEST_SENTENCE:,} tokens were wanted, the one that begins here has more"
            hint = "an empty line ends a sentence"
            raise InputError(problem, file=path, line=number - len(rows), hint=hint)
        if fields:
            rows.append(fields)
        elif rows:
            yield _sentence(rows, end=number)
            rows = []
    if rows:
        yield _sentence(rows, end=number + 1)
    if checker.first_line is None:
        wanted = f"{min_columns} or more columns"
        raise InputError(f"no sentence found: token lines of {wanted} were wanted", file=path)


def _sentence(rows: list[list[str]], *, end: int) -> ColumnSentence:
    """Turns rows, of which the last stands on the line before `end`, into columns."""
    return ColumnSentence(columns=tuple(zip(*rows, strict=True)), line=end - len(rows))


class _RowChecker:
    """Splits lines, and holds every token line to the number of columns of the first one."""

    def __init__(self, path: str | Path, min_columns: int) -> None:
        self._path = path
        self._min_columns = min_columns
        self._width = 0
        self.first_line: int | None = None

    def split(self, line: str, number: int) -> list[str]:
        """The fields of a token line, alike ones once in memory; none for an empty line and for `-DOCSTART-`."""
        fields = [intern(field) for field in _GAP.split(line) if field]
        if not fields or fields[0] == _DOCUMENT_START:
            return []
        refuse_carriage_return(line, file=self._path, line=number)
        self._check_width(len(fields), number)
        return fields

    def _check_width(self, width: int, number: int) -> None:
        if self.first_line is None:
            if width < self._min_columns:
                wanted = f"expected at least {self._min_columns} columns, found {width}"
                hint = "the word comes first, its tag last; `allennlp predict` takes sentences without tags"
                raise InputError(wanted, file=self._path, line=number, hint=hint)
            self.first_line, self._width = number, width
        elif width != self._width:
            problem = f"expected {self._width} columns as on line {self.first_line}, found {width}"
            raise InputError(problem, file=self._path, line=number)
