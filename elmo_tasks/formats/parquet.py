"""Parquet files of sentences, beside text in one interface."""

from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from itertools import islice
from pathlib import Path

from elmo_tasks.errors import InputError, needs, shown
from elmo_tasks.formats.text_files import open_binary, open_text

_MAGIC = b"PAR1"
_ROWS = 1024  # read at a time


def read_rows(
    file: str, column: str, *, first: int = 1
) -> Iterator[tuple[int, str | list[str]]]:
    """
    The lines of a text, as of `open_text`, or the strings or lists of strings in a
    column of a Parquet file, from row `first` on, with their numbers, counted from 1.
    Parquet is detected by its first bytes.

    Raises `InputError` if the file cannot be read, or a row is something else.
    """
    with open_binary(file) as opened, suppress(OSError):  # which `open_text` reports
        if opened.peek(4).startswith(_MAGIC):
            yield from islice(read_column(opened, file, column), first - 1, None)
            return
    yield from open_text(file, first=first)


def read_column(
    opened: BufferedReader, file: str | Path, column: str
) -> Iterator[tuple[int, str | list[str]]]:
    """As `read_rows`, for a Parquet file that is open."""
    with needs("pyarrow"):
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    number = 0
    try:
        table = ParquetFile(opened)
        names = table.schema_arrow.names
        if column not in names:
            raise InputError(
                f"expected a column {column!r}, got {', '.join(names)}", file=file
            )
        batches = table.iter_batches(_ROWS, columns=[column])
        for batch in batches:
            for value in batch.column(column):
                number += 1
                row = value.as_py()
                if not isinstance(row, str) and not _are_tokens(row):
                    problem = f"expected a string or a list of strings in {column!r}, got {shown(row)}"
                    raise InputError(problem, file=file, line=number)
                yield number, row
    except InputError:
        raise
    except (ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"cannot read the table: {error}", file=file, line=number + 1
        ) from None


def _are_tokens(row: object) -> bool:
    """Whether a row is a list of strings, none of which is empty."""
    if not isinstance(row, list):
        return False
    for token in row:
        if not isinstance(token, str) or not token:
            return False
    return True
