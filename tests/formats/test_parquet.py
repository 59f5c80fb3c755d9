"""Columns of Parquet files, read in place of lines of text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.tables import read_table


def write(file: Path, **columns: list[Any]) -> str:
    parquet.write_table(pyarrow.table(columns), file)
    return str(file)


ROWS = [["a", "b"], [], ["c"]]


def rows(file: str, column: str) -> Iterator[tuple[int, str | list[str]]]:
    """The lines and the texts of a column."""
    for row in read_table(file, column):
        yield row.line, row.text


def test_rows(tmp_path: Path) -> None:
    file = write(
        tmp_path / "x.parquet", words=ROWS, text=["a b", "", "c"], number=[1, 2, 3]
    )
    expected = [(1, ["a", "b"]), (2, []), (3, ["c"])]
    assert list(rows(file, "words")) == expected
    assert list(rows(file, "text")) == [(1, "a b"), (2, ""), (3, "c")]


def test_damaged_tables(tmp_path: Path) -> None:
    file = Path(write(tmp_path / "x.parquet", text=["a" * 100] * 50))
    content = file.read_bytes()
    for damaged in (content[:-9], content[:4], b"PAR1" + bytes(len(content))):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="x.parquet:1: cannot read the table: "):
            list(rows(str(file), "text"))
