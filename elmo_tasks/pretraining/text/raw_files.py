"""Files of text, JSON lines or Parquet -> the lines of their texts."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.tables import CSV, TSV, read_column, read_texts, table_kind
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


def read_lines(file: Path, text_field: str, *, report: bool = False) -> Iterator[Line]:
    """
    The lines of a file, each with the number of its document: a text file is one, as is
    each text in CSV, TSV, JSON lines and Parquet. Lines of the file that are not UTF-8 or have a
    NUL byte are skipped, with `report` with a warning. Raises `InputError` with the
    line or the field.
    """
    skipped: list[InputError] = []
    yield from lines_of_texts(_texts(file, text_field, skipped))
    if skipped and report:
        logger.warning(
            "%s: skipped lines that are no text: %d, the first is %s",
            file,
            len(skipped),
            skipped[0],
        )


def _texts(
    file: Path, text_field: str, skipped: list[InputError]
) -> Iterator[tuple[int, str]]:
    """Each text with the number of its document; bad lines are added to `skipped`."""
    with open_binary(file) as opened:
        if file.suffix == ".parquet":
            for number, value in read_column(opened, file, text_field):
                yield number, _checked(value, text_field, file, number)
            return
        if table_kind(file) in (CSV, TSV):
            for row in read_texts(file, text_field):
                yield row.line, _checked(row.text, text_field, file, row.line)
            return
        for number, line in lines_of(opened, file):
            if isinstance(line, InputError):
                skipped.append(line)
            elif ".jsonl" in file.suffixes:
                yield number, _json_text(line, text_field, file, number)
            else:
                yield 0, line


def _json_text(line: str, text_field: str, file: Path, number: int) -> str:
    try:
        text = json.loads(line)[text_field]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError(
            f"expected a JSON object with {text_field!r}", file=file, line=number
        ) from None
    return _checked(text, text_field, file, number)


def _checked(text: Any, text_field: str, file: Path, number: int) -> str:
    """A text without lone surrogates and NUL, which JSON can have."""
    if not isinstance(text, str):
        raise InputError(
            f"expected {text_field!r} to be a string, got {text!r:.60}",
            file=file,
            line=number,
        )
    return text.replace("\0", "").encode(errors="ignore").decode()
