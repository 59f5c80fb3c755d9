"""
A column of a table as the texts of a file: CSV, TSV, JSON lines and Parquet. Errors name
the file and the line, or the row of a Parquet file.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from elmo_tasks.errors import InputError, needs, shown
from elmo_tasks.formats.json_files import parse_json, require_object
from elmo_tasks.formats.text.text_files import open_binary, open_text
from elmo_tasks.option_values import Quoting

CSV, TSV, JSON_LINES, PARQUET = ".csv", ".tsv", ".jsonl", ".parquet"
TABLES = (CSV, TSV, JSON_LINES, PARQUET)
"""How the names of tables end, before `.gz` or `.zst`."""

_COMPRESSED = (".gz", ".zst")
_SEPARATORS = {CSV: ",", TSV: "\t"}
_LIST = re.compile(
    r"""\[['"].*['"]\]|(array\()?[\[(]+['"].*['"], *['"].*[\])]""", re.DOTALL
)

"""A line that pandas skips."""

_LONGEST_CELL = 10**7
"""Characters of a cell of CSV; one that is longer has most likely a quote too many."""


class Row(NamedTuple):
    """
    A text of a table, or a list of words, with its line, the cells to keep, and the
    number of the row, from 0 as in a data frame.
    """

    line: int
    text: str | list[str]
    kept: tuple[str, ...]
    number: int


def table_kind(file: str | Path) -> str | None:
    """How the name of a table ends, one of `TABLES`; `None` for another file."""
    path = PurePosixPath(str(file).lower())
    if path.suffix in _COMPRESSED:
        path = path.with_suffix("")
    return path.suffix if path.suffix in TABLES else None


def require_text(file: str | Path, *, hint: str) -> None:
    """Raises `InputError` for a table, which would be read as lines of text."""
    kind = table_kind(file)
    if kind is not None:
        raise InputError(f"expected text, got a table ({kind})", file=file, hint=hint)


def read_table(
    file: str | Path,
    column: str,
    kept: Sequence[str] = (),
    *,
    separator: str | None = None,
    quoting: Quoting = "minimal",
) -> Iterator[Row]:
    """
    The texts in a column of a table, which may be lists of words in JSON lines and
    Parquet, and the cells of the columns `kept` as text, empty for a missing value.
    Blank lines are skipped.

    `separator` of cells is a comma in CSV and a tab in TSV, unless another one is given.
    Raises `InputError` if the file is no table or
    cannot be read, has no such column or two of them, a row of CSV has another number
    of cells than the header or a cell that is a list of words, or a value is something
    else.
    """
    kind = table_kind(file)
    if kind is None:
        raise InputError(
            f"expected a table ({', '.join(TABLES)})",
            file=file,
            hint="a workbook is saved as CSV UTF-8; without --column, a file is read as text",
        )
    columns = [column, *kept]
    if kind == PARQUET:
        rows = _read_parquet(file, columns)
    elif kind == JSON_LINES:
        rows = _read_objects(file, columns)
    else:
        rows = _read_csv(file, columns, separator or _SEPARATORS[kind], quoting)
    for number, (line, (text, *others)) in enumerate(rows):
        cells = []
        try:
            for value, name in zip(others, kept, strict=True):
                cells.append(_cell(value, name))
            yield Row(line, _text(text, column), tuple(cells), number)
        except InputError as error:
            raise InputError(str(error), file=file, line=line) from None


def _read_csv(
    file: str | Path, columns: Sequence[str], separator: str, quoting: Quoting
) -> Iterator[tuple[int, list[str]]]:
    rows = _csv_rows(file, separator, quoting)
    _, header = next(rows, (0, None))
    if header is None:
        raise InputError("expected a header, got an empty file", file=file)
    hint = None
    if len(header) == 1:
        hint = f"cells are separated by {separator!r} here; --separator names another"
    for column in columns:
        _require_column(column, header, file, hint=hint)
    indices = [header.index(column) for column in columns]
    for line, row in rows:
        if len(row) != len(header):
            raise InputError(
                f"expected {len(header)} cells, got {len(row)}",
                file=file,
                line=line,
                hint="a cell with a separator in it is in quotes",
            )
        if _LIST.fullmatch(row[indices[0]]):
            problem = f"expected a text, got a list of words, {shown(row[indices[0]])}"
            hint = "keep lists in Parquet or JSON lines"
            raise InputError(problem, file=file, line=line, hint=hint)
        yield line, [row[index] for index in indices]


def _csv_rows(
    file: str | Path, separator: str, quoting: Quoting
) -> Iterator[tuple[int, list[str]]]:
    """
    Each row with the line on which it begins. Blank lines are no rows, also with blanks
    in them, as in pandas and R; a cell of blanks in quotes is one.
    """
    csv.field_size_limit(_LONGEST_CELL)
    lines = (f"{(last := text)}\n" for _, text in open_text(file, longest=None))
    # Not pandas, which knows no lines, fills short rows, and without `strict` joins
    # rows between two quotes.
    rule: Any = csv.QUOTE_MINIMAL
    if quoting == "none":
        rule = csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=separator, quoting=rule, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"invalid CSV: {error}",
                file=file,
                line=line,
                hint='a cell with a quote is in quotes, and the quote is doubled: """No,"" he said"; or --quoting none',
            ) from None
        if row is None:
            return
        if len(row) > 1 or last.strip(" \t"):
            yield line, row


def _read_objects(
    file: str | Path, columns: Sequence[str]
) -> Iterator[tuple[int, list[Any]]]:
    for line, text in open_text(file, longest=None):
        if not text.strip():
            continue
        value = parse_json(text, "a JSON object", file=file, line=line)
        found = require_object(value, file=file, line=line)
        for column in columns:
            _require_column(column, list(found), file, line=line)
        yield line, [found[column] for column in columns]


def _read_parquet(
    file: str | Path, columns: Sequence[str]
) -> Iterator[tuple[int, list[Any]]]:
    """The values of each row with its number, counted from 1."""
    with needs("pyarrow"):
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    number = 0
    try:
        with open_binary(file) as opened:
            table = ParquetFile(opened)
            for column in columns:
                _require_column(column, table.schema_arrow.names, file)
            for batch in table.iter_batches(1024, columns=list(set(columns))):
                for row in batch.to_pylist():
                    number += 1
                    yield number, [row[column] for column in columns]
    except InputError:
        raise
    except (ArrowException, OSError, ValueError) as error:
        raise InputError(
            f"cannot read the table: {error}", file=file, line=number + 1
        ) from None


def _require_column(
    column: str,
    names: Sequence[str],
    file: str | Path,
    *,
    line: int | None = None,
    hint: str | None = None,
) -> None:
    """Raises `InputError` unless one of the columns of a table has this name."""
    if list(names).count(column) == 1:
        return
    found = ", ".join([repr(name) for name in names]) or "none"
    problem = f"expected one column {column!r}, got {found}"
    raise InputError(problem, file=file, line=line, hint=hint)


def _text(value: Any, column: str) -> str | list[str]:
    """Raises `InputError` for what is neither a text nor a list of words."""
    if not isinstance(value, str) and not _are_words(value):
        problem = f"expected a string or a list of strings in {column!r}"
        raise InputError(f"{problem}, got {shown(value)}")
    text = "".join(value)
    if "\0" in text:
        raise InputError("expected text, got a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("expected text, got a lone surrogate") from None
    return value


def _are_words(value: Any) -> bool:
    """Whether a value is a list of strings, none of which is empty."""
    if not isinstance(value, list):
        return False
    for word in value:
        if not isinstance(word, str) or not word:
            return False
    return True


def _cell(value: Any, column: str) -> str:
    """A value as text. Raises `InputError` for one with parts."""
    if value is None:
        return ""
    if isinstance(value, list | tuple | dict | bytes):
        problem = f"expected a text or a number in {column!r}"
        raise InputError(f"{problem}, got {shown(value)}")
    return str(value)
