"""A column of a table as the texts of a file: CSV, TSV, JSON lines and Parquet."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.tables import read_table

Write = Callable[[str, str | bytes], str]

STIMULI = (
    'item,condition,sentence\n1,a,The boy left.\n2,b,"He said, ""No,"" and\nleft."\n'
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(name: str, content: str | bytes) -> str:
        file = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        file.write_bytes(content)
        return str(file)

    return to_file


def test_quotes_and_line_ends_in_cells(write: Write) -> None:
    rows = list(read_table(write("x.csv", STIMULI), "sentence", ["item", "condition"]))
    assert [row.text for row in rows] == [
        "The boy left.",
        'He said, "No," and\nleft.',
    ]
    assert [row.line for row in rows] == [2, 3]
    assert [row.kept for row in rows] == [("1", "a"), ("2", "b")]


CELLS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from(' "\t,;\n')
)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1), st.sampled_from([".csv", ".tsv"]))
def test_what_the_library_writes(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]], kind: str
) -> None:
    """Cells without byte order marks where a line begins, which every text drops."""
    cells = [tuple(cell.replace("\ufeff", "x") for cell in row) for row in cells]
    file = tmp_path_factory.getbasetemp() / f"written{kind}"
    delimiter = "," if kind == ".csv" else "\t"
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows([("a", "b"), *cells])
    file.write_bytes(stream.getvalue().encode())
    rows = list(read_table(str(file), "b", ["a"]))
    assert [(row.kept[0], row.text) for row in rows] == cells


def test_the_same_table_in_each_format(write: Write, tmp_path: Path) -> None:
    frame = pandas.read_csv(io.StringIO(STIMULI))
    expected = [
        row[1:] for row in read_table(write("x.csv", STIMULI), "sentence", ["item"])
    ]
    frame.to_csv(tmp_path / "x.tsv", sep="\t", index=False)
    frame.to_json(tmp_path / "x.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "x.parquet")
    for name in ("x.tsv", "x.jsonl", "x.parquet"):
        rows = read_table(str(tmp_path / name), "sentence", ["item"])
        assert [row[1:] for row in rows] == expected


def test_empty_cells(write: Write) -> None:
    rows = list(read_table(write("x.csv", 'a,b\n,x\n"",\n'), "a", ["b"]))
    assert [(row.text, row.kept) for row in rows] == [("", ("x",)), ("", ("",))]


def test_lines_without_a_cell(write: Write) -> None:
    """As pandas counts rows: it skips blanks alone, not in quotes."""
    rows = read_table(write("x.csv", 'a\nb\n \t\n\n\u00a0\n\u2028\nc\n" "\n'), "a")
    assert [row.text for row in rows] == ["b", "\u00a0", "\u2028", "c", " "]


PROBLEMS: list[tuple[str, str | bytes, str]] = [
    ("x.csv", "a,b\n1,2\n", r"x.csv: expected one column 'text', got 'a', 'b'$"),
    ("x.csv", "a;text\n1;2\n", r"got 'a;text' .cells are separated by ',' here; --sep"),
    ("x.tsv", "a,text\n1,2\n", r"got 'a,text' .cells are separated by '\\t' here"),
    ("x.csv", "", "x.csv: expected a header, got an empty file"),
    ("x.csv", "\n\n", "x.csv: expected a header, got an empty file"),
    (
        "x.csv",
        "text,text\n1,2\n",
        "x.csv: expected one column 'text', got 'text', 'text'$",
    ),
    (
        "x.csv",
        "text\n\"['She', 'left']\"\n",
        r"x.csv:2: .*list of words.*Parquet or JSON",
    ),
    ("x.tsv", 'a\ttext\n1\t["a" "b"]\n', "x.tsv:2: expected a text, got a list of w"),
    ("x.tsv", "text\n('a', 'b')\n", "x.tsv:2: expected a text, got a list of words"),
    ("x.tsv", "text\n[('a', 'B')]\n", "x.tsv:2: expected a text, got a list of wor"),
    ("x.csv", "a,text\n1,2\n\n1,2,3\n", "x.csv:4: expected 2 cells, got 3"),
    ("x.csv", 'a,text\n"1\n2",3\n4\n', "x.csv:4: expected 2 cells, got 1"),
    ("x.csv", 'a,text\n1,"2" x\n', "x.csv:2: invalid CSV: "),
    ("x.csv", 'a,text\n1,2\n1,"2\n1,2\n', "x.csv:3: invalid CSV: "),
    ("x.csv", 'text\n"' + "a b\n" * 2_500_001, "x.csv:2: invalid CSV: field larger"),
    ("x.csv", b"text\na\xff\n", "x.csv:2: expected UTF-8 text"),
    ("x.csv", b"text\na\0b\n", "x.csv:2: expected text, got binary data"),
    (
        "x.jsonl",
        '{"text": "a"}\n{"b": 1}\n',
        "x.jsonl:2: expected one column 'text', got 'b'",
    ),
    ("x.jsonl", '{"text": "a"}\n[1]\n', "x.jsonl:2: expected a JSON object, got"),
    ("x.jsonl", '{"text": \n', "x.jsonl:1: expected a JSON object, got"),
    (
        "x.jsonl",
        '{"text": 5}\n',
        "x.jsonl:1: expected a string or a list of strings in",
    ),
    ("x.jsonl", '{"text": ["a", ""]}\n', "x.jsonl:1: expected a string or a list of"),
    ("x.jsonl", '{"text": "\\ud800"}\n', "x.jsonl:1: expected text, got a lone surrog"),
    ("x.jsonl", '{"text": "a\\u0000b"}\n', "x.jsonl:1: expected text, got a NUL"),
    ("x.parquet", "a,b\n", "x.parquet:1: cannot read the table"),
    ("x.txt", "a b\n", r"x.txt: expected a table \(\.csv, \.tsv, \.jsonl, \.parquet\)"),
]


@pytest.mark.parametrize(("name", "content", "problem"), PROBLEMS)
def test_problems(write: Write, name: str, content: str | bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as error:
        list(read_table(write(name, content), "text"))
    assert "\n" not in str(error.value)


def test_separators_and_quoting(write: Write) -> None:
    """Natural quotation marks, of which rules for quotes make a row of several."""
    file = write("x.tsv", 'a\tt\n1\t"Oh no\n2\tplain\n3\tyes" she\n4\tend\n')
    with pytest.raises(InputError, match="x.tsv:2: invalid CSV: .*or --quoting none"):
        list(read_table(file, "t"))
    rows = list(read_table(file, "t", quoting="none"))
    assert [(row.line, row.text) for row in rows] == [
        (2, '"Oh no'),
        (3, "plain"),
        (4, 'yes" she'),
        (5, "end"),
    ]
    [row] = read_table(write("x.csv", 'a;t\n1,5;"a; b"\n'), "t", ["a"], separator=";")
    assert (row.text, row.kept) == ("a; b", ("1,5",))


def test_texts_in_brackets(write: Write) -> None:
    file = write("x.csv", "t\n[laughs]\n[]\n['a\n")
    assert [row.text for row in read_table(file, "t")] == ["[laughs]", "[]", "['a"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(5, "5"), (0.5, "0.5"), (True, "True"), (None, ""), ("a\tb", "a\tb")],
)
def test_kept_values(value: Any, shown: str, write: Write) -> None:
    file = write("x.jsonl", json.dumps({"text": "a", "k": value}))
    assert [row.kept for row in read_table(file, "text", ["k"])] == [(shown,)]


@pytest.mark.parametrize("value", [[1], {"a": 1}])
def test_values_that_cannot_be_kept(value: Any, write: Write) -> None:
    file = write("x.jsonl", json.dumps({"text": "a", "k": value}))
    with pytest.raises(InputError, match="x.jsonl:1: expected a text or a number in"):
        list(read_table(file, "text", ["k"]))


def test_lists_of_words(write: Write) -> None:
    file = write("x.jsonl", '{"words": ["a b", "c"]}\n\n{"words": []}\n')
    assert [row[:2] for row in read_table(file, "words")] == [
        (1, ["a b", "c"]),
        (3, []),
    ]


def test_a_long_cell_of_csv(tmp_path: Path) -> None:
    """Longer than the standard library reads by itself."""
    text = "word " * 39_999 + "word"
    file = tmp_path / "x.csv"
    file.write_text(f"text\n{text}\n")
    assert [row.text for row in read_table(file, "text")] == [text]
