"""
The sentences of a text or a table: their words, the regions of these, and the cells of
their rows.
"""

import logging
import re
from collections import defaultdict
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

_DAMAGED = re.compile(
    r"\ufffd|â€|Ã(?=[^\x00-\x7f])|(?<=[a-z])\?(?=[a-z])|<U\+(?=\w+>)"
    r"|&(?=(#\w+|[a-z]+);)|</?S>"
)
"""
What is left of characters that were read in another encoding, or of a web page; and
marks of sentences.
"""

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
    count = single = 0
    has_words = has_mark = False
    notes: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        try:
            words, numbers = _words(row.text, regions, split, plain)
        except InputError as error:
            raise InputError(str(error), file=file, line=row.line) from None
        if not words and column is None:  # a blank line
            continue
        count += 1
        single += len(words) == 1
        has_words = has_words or bool(words)
        if not words:
            notes["no words, so no rows of a word"].append(row.line)
        elif regions is None or numbers is None:
            if column is not None and "|" in row.text:
                notes["| is read as text; --regions '|' makes it a mark"].append(
                    row.line
                )
        elif isinstance(row.text, str) and regions != " " and regions not in row.text:
            notes[f"no {regions!r}, so one region"].append(row.line)
        else:
            has_mark = True
            if len(set(numbers)) < max(numbers):
                notes["a region is empty, and counts as one"].append(row.line)
        text = row.text if isinstance(row.text, str) else " ".join(row.text)
        damaged = _DAMAGED.search(text)
        if damaged is not None:
            notes[f"{damaged[0]!r}, so the text seems damaged"].append(row.line)
        if "\n" in text:
            notes["a cell with a line break, so check its quotes"].append(row.line)
        kept = dict(zip(keep, row.kept, strict=True))
        yield FileSentence(str(file), row.line, row.number, words, numbers, kept)
    if column is not None and single > max(_FEW, count / 2):
        advice = "join the words of a sentence with |, and pass --regions '|'"
        logger.warning(
            "%s: each row is a sentence, but most have one word; %s", file, advice
        )
    if not has_words:
        raise InputError("no sentence in this file", file=file)
    if regions and not has_mark:
        problem = f"regions: expected {regions!r} in a sentence, got none"
        raise InputError(problem, file=file, hint="it stands between two regions")
    for note, lines in notes.items():
        logger.warning("%s:%d: %s (such rows: %d)", file, lines[0], note, len(lines))


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
