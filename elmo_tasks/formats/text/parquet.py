"""Parquet files: the values of their columns."""

from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError, needs

_ROWS = 1024  # read at a time


def read_values(
    opened: BufferedReader, file: str | Path, columns: Sequence[str]
) -> Iterator[tuple[int, list[Any]]]:
    """
    The values of columns of an open file, row by row, with the rows' numbers, counted
    from 1. Raises `InputError` if the file cannot be read, or has no such column.
    """
    with needs("pyarrow"):
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    number = 0
    try:
        table = ParquetFile(opened)
        for column in columns:
            require_column(column, table.schema_arrow.names, file)
        for batch in table.iter_batches(_ROWS, columns=list(dict.fromkeys(columns))):
            for values in zip(*[batch.column(name) for name in columns], strict=True):
                number += 1
                yield number, [value.as_py() for value in values]
    except InputError:
        raise
    except (ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"cannot read the table: {error}", file=file, line=number + 1
        ) from None


def require_column(
    column: str,
    names: Sequence[str],
    file: str | Path,
    *,
    line: int | None = None,
    hint: str | None = None,
) -> None:
    """Raises `InputError` unless one of the columns of a table has this name."""
    count = list(names).count(column)
    if count == 1:
        return
    if count:
        problem = f"expected one column {column!r}, got {count}"
        raise InputError(problem, file=file, line=line)
    found = ", ".join([repr(name) for name in names])
    raise InputError(
        f"expected a column {column!r}, got {found or 'none'}",
        file=file,
        line=line,
        hint=hint,
    )
