"""
The sentences of a text or a table: their words, the regions of these, and the cells of
their rows.
"""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.elmo.sentences import words_of
from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.raw_text import Split
from elmo_tasks.formats.text.regions import Plain, words_of_regions
from elmo_tasks.formats.text.tables import Row, read_table, require_text
from elmo_tasks.formats.text.text_files import open_text

logger = logging.getLogger(__name__)

_FEW = 10
"""Rows of one word that may be sentences."""


class FileSentence(NamedTuple):
    """A line of a text or a row of a table, with its number, from 0."""

    file: str
    line: int
    row: int
    words: list[str]
    regions: list[int] | None  # of each word, from 1
    kept: dict[str, str]  # cells of other columns


def read_file(
    file: str | Path,
    split: Split,
    *,
    column: str | None = None,
    keep: Sequence[str] = (),
    regions: str | None = None,
    plain: Plain = str,
    **table: Any,
) -> Iterator[FileSentence]:
    """
    The lines of a text that have a word, or with `column` all rows of a table, with the
    cells of the columns to `keep`; `table` are further arguments of `read_table`.
    `regions` and `plain` are those of `words_of_regions`. Raises `InputError` if no sentence has
    a word, or none has the mark.
    """
    if column is not None:
        rows = read_table(file, column, keep, **table)
    else:
        rows = _lines(file)
    count = single = marked = gaps = 0
    has_words = False
    has_mark = regions is None
    for row in rows:
        try:
            words, numbers = _words(row.text, regions, split, plain)
        except InputError as error:
            raise InputError(str(error), file=file, line=row.line) from None
        has_words = has_words or bool(words)
        has_mark = has_mark or _has_mark(row.text, regions or "")
        count += 1
        single += len(words) == 1
        marked += regions is None and "|" in row.text
        gaps += _has_gap(numbers or [])
        if words or column is not None:
            kept = dict(zip(keep, row.kept, strict=True))
            yield FileSentence(str(file), row.line, row.number, words, numbers, kept)
    if column is not None and single > max(_FEW, count / 2):
        advice = "join the words of a sentence with |, and pass --regions '|'"
        logger.warning(
            "%s: each row is a sentence, but most have one word; %s", file, advice
        )
    if column is not None and marked:
        advice = "--regions '|' makes it a mark"
        logger.warning("%s: | is read as text in %d rows; %s", file, marked, advice)
    if gaps:
        logger.warning("%s: %d rows have an empty region, which counts", file, gaps)
    if not has_words:
        raise InputError("no sentence in this file", file=file)
    if not has_mark:
        problem = f"regions: expected {regions!r} in a sentence, got none"
        raise InputError(problem, file=file)


def _has_gap(regions: list[int]) -> bool:
    """Whether a region before the last one with words, counted from 1, has none."""
    return len(set(regions)) < max(regions, default=0)


def _lines(file: str | Path) -> Iterator[Row]:
    require_text(file, hint="--column NAME reads a column of a table")
    for line, text in open_text(file):
        yield Row(line, text, (), line - 1)


def _words(
    text: str | list[str], mark: str | None, split: Split, plain: Plain
) -> tuple[list[str], list[int] | None]:
    if mark is not None:
        return words_of_regions(text, mark, split, plain)
    words = words_of(text, split)
    for word in words:
        if " " in word:
            problem = f"expected words without blanks, got {shown(word)}"
            raise InputError(problem, hint="--regions '|' reads a list of regions")
    return words, None


def _has_mark(text: str | list[str], mark: str) -> bool:
    """Whether a text may have several regions; a list of regions needs no mark."""
    return not isinstance(text, str) or mark.isspace() or mark in text
