"""CoNLL column files: a token per line, blanks or tabs between columns, an empty line after a sentence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from sys import intern

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text_files import open_text

LONGEST_SENTENCE = 2**15  # in tokens

_DOCUMENT_START = "-DOCSTART-"
# `str.split()` would also split at no-break spaces, which are part of some tokens.
_GAP = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class ColumnSentence:
    """One sentence of a column file."""

    columns: tuple[tuple[str, ...], ...]  # T strings per column, in file order
    line: int  # of the first token; token t is on line `line + t`


def read_columns(
    path: str | Path, *, min_columns: int = 2, corpus_hint: str | None = None
) -> Iterator[ColumnSentence]:
    """
    Streams the sentences of a column file, plain or gzip. `-DOCSTART-` lines end a sentence. The first token line has
    at least `min_columns`, and all others have as many as that. `corpus_hint` is for `open_text`. Raises `InputError`
    with the line if it has the wrong number of columns, a sentence is too long, or there is none.
    """
    rows: list[list[str]] = []
    start = first = width = 0
    for number, line in chain(open_text(path, corpus_hint=corpus_hint), [(0, "")]):
        fields = split_columns(line)
        if fields and fields[0] != _DOCUMENT_START:
            first, width = first or number, width or len(fields)
            check_width(
                len(fields), width, first, least=min_columns, file=path, line=number
            )
            start = start if rows else number
            rows.append(fields)
            if len(rows) > LONGEST_SENTENCE:
                problem = f"expected sentences of at most {LONGEST_SENTENCE:,} tokens, got a longer one"
                raise InputError(
                    problem, file=path, line=start, hint="an empty line ends a sentence"
                )
        elif rows:
            yield ColumnSentence(tuple(zip(*rows, strict=True)), start)
            rows = []
    if not start:
        raise InputError(
            f"expected token lines of {min_columns} or more columns, got none",
            file=path,
        )


def split_columns(line: str) -> list[str]:
    """The fields of a line, equal strings shared in memory."""
    return [intern(field) for field in _GAP.split(line) if field]


def check_width(
    found: int, width: int, first: int, *, least: int, file: str | Path, line: int
) -> None:
    """Raises `InputError` unless a line has at least `least` columns, and `width` as the line `first` has."""
    if found < least:
        raise InputError(
            f"expected at least {least} columns, got {found}", file=file, line=line
        )
    if found != width:
        raise InputError(
            f"expected {width} columns as on line {first}, got {found}",
            file=file,
            line=line,
        )
