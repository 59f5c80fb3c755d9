"""Columns of Parquet files, read in place of lines of text."""

from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.tables import read_column, read_rows
from elmo_tasks.formats.text.text_files import open_binary


def write(file: Path, **columns: list[Any]) -> str:
    parquet.write_table(pyarrow.table(columns), file)
    return str(file)


ROWS = [["a", "b"], [], ["c"]]


@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_rows(first: int, tmp_path: Path) -> None:
    file = write(
        tmp_path / "x.txt", words=ROWS, text=["a b", "", "c"], number=[1, 2, 3]
    )
    expected = [(1, ["a", "b"]), (2, []), (3, ["c"])]
    assert list(read_rows(file, "words", first=first)) == expected[first - 1 :]
    texts = [(1, "a b"), (2, ""), (3, "c")]
    assert list(read_rows(file, "text", first=first)) == texts[first - 1 :]
    assert list(read_rows(file, "text")) == texts


def test_rows_of_several_batches(tmp_path: Path) -> None:
    values = [str(number) for number in range(2100)]
    found = list(read_rows(write(tmp_path / "x", text=values), "text"))
    assert [number for number, _ in found] == list(range(1, 2101))
    assert [text for _, text in found] == values


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([["a"], ["b", ""]], 2),
        ([["a"], ["b", None]], 2),
        ([["a"], None], 2),
        (["a", None], 2),
        ([1, 2], 1),
        ([[1]], 1),
        ([{"a": "b"}], 1),
    ],
)
def test_rows_that_are_no_text(values: list[Any], line: int, tmp_path: Path) -> None:
    file = write(tmp_path / "x", text=values)
    problem = rf"x:{line}: expected a string or a list of strings in 'text', got"
    found = []
    with pytest.raises(InputError, match=problem):
        for row in read_rows(file, "text"):
            found.append(row)
    assert len(found) == line - 1


def test_other_columns(tmp_path: Path) -> None:
    file = write(tmp_path / "x", a=["b"], c=["d"])
    with pytest.raises(InputError, match=r"x: expected a column 'text', got 'a', 'c'$"):
        list(read_rows(file, "text"))


def test_damaged_tables(tmp_path: Path) -> None:
    file = Path(write(tmp_path / "x", text=["a" * 100] * 50))
    content = file.read_bytes()
    for damaged in (content[:-9], content[:4], b"PAR1" + bytes(len(content))):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="x:1: cannot read the table: "):
            list(read_rows(str(file), "text"))
    file.write_bytes(b"PAR")
    assert list(read_rows(str(file), "text")) == [(1, "PAR")]
    file.write_bytes(content)
    with open_binary(file) as opened:
        assert len(list(read_column(opened, file, "text"))) == 50


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no such file"):
        list(read_rows(str(tmp_path / "none"), "text"))
    with pytest.raises(InputError, match="cannot open the file: Is a directory"):
        list(read_rows(str(tmp_path), "text"))
