"""Files of text and tables -> the lines of their texts."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.tables import read_table, table_kind
from elmo_tasks.formats.text.text_files import lines_of, open_binary
from elmo_tasks.pretraining.text.paragraphs import Line, lines_of_texts
from elmo_tasks.pretraining.text.sentences import expand_files

logger = logging.getLogger(__name__)

SUFFIXES = (".txt", ".jsonl", ".parquet", ".gz", ".zst")
"""Of the files of a folder that are read."""


def input_files(entry: str) -> list[Path]:
    """
    The files of a path, a glob, or a folder and those below it. Raises `InputError` if
    there is none.
    """
    folder = Path(entry)
    if not folder.is_dir():
        return expand_files(entry)
    found = []
    for path in folder.rglob("*"):
        if path.suffix in SUFFIXES and path.is_file():
            found.append(path)
    if not found:
        raise InputError(
            f"expected files that end in {', '.join(SUFFIXES)}, found none", file=entry
        )
    return sorted(found)


def read_lines(file: Path, table: dict[str, Any]) -> Iterator[Line]:
    """
    The lines of a file, each with the number of its document: a text file is one, as is
    each text in a table. Lines of a text file that are not UTF-8 or have a NUL byte are
    skipped, with a warning. `table` are the arguments of `read_table`.
    """
    if table_kind(file) is not None:
        texts = _texts_of_table(file, table)
    else:
        texts = ((0, line) for line in _valid_lines(file))
    yield from lines_of_texts(texts)


def _texts_of_table(file: Path, table: dict[str, Any]) -> Iterator[tuple[int, str]]:
    for row in read_table(file, **table):
        if not isinstance(row.text, str):
            problem = f"expected a text in {table['column']!r}, got a list of words"
            raise InputError(problem, file=file, line=row.line)
        yield row.number, row.text.replace("\0", "")  # which JSON can have


def _valid_lines(file: Path) -> Iterator[str]:
    skipped: list[InputError] = []
    with open_binary(file) as opened:
        for _, line in lines_of(opened, file):
            if isinstance(line, InputError):
                skipped.append(line)
            else:
                yield line
    if skipped:
        logger.warning(
            "%s: skipped lines that are no text: %d, the first is %s",
            file,
            len(skipped),
            skipped[0],
        )
