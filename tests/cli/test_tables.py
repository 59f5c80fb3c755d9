"""
Tables in place of texts: an error that names `--column`, with which they are read; the
columns that `bilm surprisal` keeps; regions.
"""

import csv
import gzip
import json
import logging
from functools import partial
from pathlib import Path

import pandas
import pytest

from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.tables import TABLES
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal
from tests.elmo.samples import write_bilm
from tests.pretraining import toy
from tests.test_flow import elmo_tasks

FRAME = pandas.DataFrame(
    {
        "item": [1, 2, 3],
        "condition": ["a", "b\tc", ""],
        "sentence": ["The cook, of course, bakes.", 'the "cook"\nbakes .', ""],
    }
)
WORDS = [
    ["The", "cook", ",", "of", "course", ",", "bakes", "."],
    ["the", '"', "cook", '"', "bakes", "."],
    [],
]
VOCABULARY = ["the", "cook", "bakes", "."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, a language model, and a table in each format."""
    folder = tmp_path_factory.mktemp("tables")
    write_bilm(folder)
    toy.fake_run(folder / "run", VOCABULARY)
    (folder / "x").mkdir()
    FRAME.to_csv(folder / "x/x.csv", index=False)
    FRAME.to_csv(folder / "x/x.tsv", index=False, sep="\t")
    FRAME.to_json(folder / "x/x.jsonl", orient="records", lines=True)
    FRAME.to_parquet(folder / "x/x.parquet")
    return folder


def bilm(folder: Path) -> tuple[str, str]:
    files = [
        next(folder.glob(f"**/{name}")) for name in ("options.json", "weights.hdf5")
    ]
    return "--model", "+".join(map(str, files))


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_no_text(folder: Path, tmp_path: Path, kind: str) -> None:
    file = folder / f"x/x{kind}"
    out = tmp_path / "out"
    for command in (
        ("elmo", file, out, *bilm(folder)),
        ("elmo", file, out, *bilm(folder), "--input-format", "text"),
        ("elmo", file, out, *bilm(folder), "--tokenizer", "basic"),
        ("static", file, "--output", out, *bilm(folder)),
        ("bilm", "surprisal", file, "--output", out, "--model", folder / "run"),
    ):
        with pytest.raises(InputError, match=rf"x\{kind}: expected text, .*--column"):
            elmo_tasks(*command)
    with pytest.raises(InputError, match=rf"x\{kind}: expected text, .*--text-field"):
        elmo_tasks("bilm", "perplexity", file, "--model", folder / "run")
    assert not out.exists()


@pytest.mark.parametrize("kind", TABLES)
def test_vectors(folder: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out.hdf5"
    options = ("--column", "sentence", "--tokenizer", "basic", *bilm(folder))
    elmo_tasks("elmo", folder / f"x/x{kind}", out, *options)
    with ElmoVectors(out) as vectors:
        assert [vectors.tokens(index) for index in range(len(vectors))] == WORDS
        assert vectors.info["column"] == "sentence"
    out = tmp_path / "out.txt"
    elmo_tasks(
        "static", folder / f"x/x{kind}", "--output", out, "--min-count", 2, *options
    )
    words = [line.split()[0] for line in out.read_text().splitlines()[1:]]
    assert set(words) == {",", "cook", '"', "bakes", "."}


def test_lists_of_words(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [{"words": words} for words in (["New York", "."], ["A text."], ["b"])]
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join([json.dumps(line) for line in lines]))
    options = ("--column", "words", *bilm(folder))
    for name, more in (("a", ()), ("b", ("--input-format", "json"))):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            elmo_tasks("elmo", file, tmp_path / name, *options, *more)
        (message,) = caplog.messages
        assert "such as 'New York', which is read as one word" in message
        with ElmoVectors(tmp_path / name) as vectors:
            assert vectors.tokens(0) == ["New York", "."]


@pytest.mark.parametrize("kind", TABLES)
def test_surprisal(folder: Path, tmp_path: Path, kind: str) -> None:
    """That of the same sentences as text, with the cells of their rows."""
    text = tmp_path / "x.txt"
    text.write_text("\n".join([" ".join(words) for words in WORDS]))
    model = ("--model", folder / "run")
    outputs = ("--output", tmp_path / "a", "--sentences", tmp_path / "b", "--force")
    elmo_tasks("bilm", "surprisal", text, *model, *outputs)
    names = ("word", "position", "forward", "backward", "oov")
    expected = [[row[name] for name in names] for row in rows_of(tmp_path / "a")]
    options = (
        "--column",
        "sentence",
        "--tokenizer",
        "basic",
        "--keep",
        "item,condition",
    )
    elmo_tasks("bilm", "surprisal", folder / f"x/x{kind}", *model, *options, *outputs)
    rows = rows_of(tmp_path / "a")
    assert [[row[name] for name in names] for row in rows] == expected
    kept = [("1", "a")] * 10 + [("2", r"b\tc")] * 8
    assert [(row["item"], row["condition"]) for row in rows] == kept
    rows = rows_of(tmp_path / "b")
    keys = ("row", "words", "item", "condition")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("0", "8", "1", "a"),
        ("1", "6", "2", r"b\tc"),
        ("2", "0", "3", ""),
    ]
    assert (rows[2]["forward"], rows[2]["backward"]) == ("0.000000", "0.000000")


ROWS = ["the cook bakes", "", "the\n\ncook", "the cook bakes", ' "the" ', "the", " "]
"""Equal ones, an empty one, one of several lines."""

READERS = {
    ".csv": pandas.read_csv,
    ".tsv": partial(pandas.read_csv, sep="\t"),
    ".jsonl": partial(pandas.read_json, lines=True),
    ".parquet": pandas.read_parquet,
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("state", ["reset", "carry"])
def test_rows_are_those_of_pandas(
    folder: Path, tmp_path: Path, kind: str, state: str
) -> None:
    """Also behind blank lines; grouped by them, equal keys stay apart."""
    frame = pandas.DataFrame({"id": 1, "t": ROWS})
    file = tmp_path / f"x{kind}"
    if kind == ".parquet":
        frame.to_parquet(file)
    elif kind == ".jsonl":
        frame.to_json(file, orient="records", lines=True)
        file.write_text(file.read_text().replace("\n", "\n\n", 2))
    else:
        frame.to_csv(file, index=False, sep="," if kind == ".csv" else "\t")
        head, first, rest = file.read_text().split("\n", 2)
        file.write_text("\n".join([head, "", first, "", "  ", rest]))
    words, sums = tmp_path / "words.tsv", tmp_path / "sums.tsv"
    options = ("--column", "t", "--keep", "id", "--model", folder / "run")
    outputs = ("--output", words, "--sentences", sums, "--state", state)
    elmo_tasks("bilm", "surprisal", file, *options, *outputs)
    read = READERS[kind](file)
    found = pandas.read_csv(sums, sep="\t", quoting=csv.QUOTE_NONE)
    assert list(found["row"]) == list(read.index) == list(range(len(ROWS)))
    texts = read["t"].fillna("").str.split()
    assert list(found["words"]) == list(texts.str.len())
    table = pandas.read_csv(words, sep="\t", quoting=csv.QUOTE_NONE)
    by_row = table.groupby(["row", "id"])["forward"].sum()
    for (row, _), total in by_row.items():
        assert total == pytest.approx(found["forward"][row], abs=1e-4)
        assert len(table[table["row"] == row]) == found["words"][row] + 2
    if state == "reset":
        assert by_row[0, 1] == pytest.approx(by_row[3, 1])


def test_separators_and_quoting(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text('t;id\n"the ;1\ncook" ;2\n')
    options = ("--separator", ";", "--quoting", "none", "--column", "t")
    out = tmp_path / "out"
    elmo_tasks("elmo", file, out, *options, *bilm(folder))
    with ElmoVectors(out) as vectors:
        assert [vectors.tokens(0), vectors.tokens(1)] == [['"the'], ['cook"']]
    words = ("--output", tmp_path / "words", "--model", folder / "run")
    elmo_tasks("bilm", "surprisal", file, *options, *words)
    found = [row["word"] for row in rows_of(tmp_path / "words")]
    assert found == ["<S>", '"the', "</S>", "<S>", 'cook"', "</S>"]
    text = ("--text-field", "t", "--output", tmp_path / "text", "--heldout", 0)
    elmo_tasks("bilm", "prepare", file, *options[:4], *text)
    [written] = (tmp_path / "text").iterdir()
    assert gzip.decompress(written.read_bytes()) == b'"the\ncook"\n'


def test_the_table_in_python(folder: Path, tmp_path: Path) -> None:
    """The rows of the command, with numbers in place of text."""
    file = tmp_path / "x.csv"
    file.write_text('id,t\n7,"The cook | bakes."\n8,\n9,the | unseen\n')
    words, sums = tmp_path / "words", tmp_path / "sums"
    options = ("--column", "t", "--keep", "id", "--regions", "|")
    outputs = ("--output", words, "--sentences", sums, "--tokenizer", "basic")
    elmo_tasks("bilm", "surprisal", file, *options, *outputs, "--model", folder / "run")
    surprisal = WordSurprisal.from_pretrained(folder / "run", device="cpu")
    found = list(surprisal.iter_file(file, column="t", keep=["id"], regions="|"))
    tables = [row for one in found for row in one.rows()], [one.sums() for one in found]
    for name, rows in zip((words, sums), tables, strict=True):
        for row, expected in zip(rows, rows_of(name), strict=True):
            assert list(row) == list(expected)
            for key, value in row.items():
                text = "" if value is None else str(value)
                if isinstance(value, bool):
                    text = str(int(value))
                if isinstance(value, float):
                    text = f"{value:.6f}"
                assert text == expected[key]
    assert [row["region"] for row in tables[0]] == [
        *(None, 1, 1, 2, 2, None),
        *(None, 1, 2, None),
    ]
    with pytest.raises(InputError, match="x.csv:2: expected a text, got a list"):
        file.write_text("t\n\"['a']\"\n")
        list(surprisal.iter_file(file, column="t"))


def test_a_table_of_empty_texts(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text('id,t\n1,""\n2,\n')
    out = tmp_path / "out"
    options = ("--column", "t", "--model", folder / "run", "--output", out)
    with pytest.raises(InputError, match="x.csv: no sentence in this file"):
        elmo_tasks("bilm", "surprisal", file, *options)
    assert not out.exists()


def test_a_blank_line_in_a_table_of_one_column(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text('t\n"the\ncook"\n   \nthe\n')
    options = ("--column", "t", "--model", folder / "run", "--output", tmp_path / "out")
    elmo_tasks("bilm", "surprisal", file, *options)
    rows = rows_of(tmp_path / "out")
    assert [(row["line"], row["row"]) for row in rows] == [
        *[("2", "0")] * 4,
        *[("5", "1")] * 3,
    ]
    assert len(pandas.read_csv(file)) == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", 'id,t\n7,"The cook | met J. | Smith, | there."\n8,the | cook\n'),
        ("x.txt", "The cook | met J. | Smith, | there.\nthe | cook\n"),
        (
            "x.jsonl",
            '{"id": 7, "t": ["The cook", "met J.", "Smith,", "there."]}\n'
            '{"id": 8, "t": ["the", "cook"]}\n',
        ),
    ],
)
def test_regions(folder: Path, tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    out = tmp_path / "out"
    model = (
        "--model",
        folder / "run",
        "--tokenizer",
        "basic",
        "--force",
        "--output",
        out,
    )
    options: tuple[str, ...] = ("--regions", "|")
    if name != "x.txt":
        options += ("--column", "t", "--keep", "id")
    elmo_tasks("bilm", "surprisal", tmp_path / name, *model, *options)
    rows = rows_of(out)
    assert [(row["word"], row["region"]) for row in rows] == [
        ("<S>", ""),
        ("The", "1"),
        ("cook", "1"),
        ("met", "2"),
        ("J.", "2"),
        ("Smith", "3"),
        (",", "3"),
        ("there", "4"),
        (".", "4"),
        ("</S>", ""),
        ("<S>", ""),
        ("the", "1"),
        ("cook", "2"),
        ("</S>", ""),
    ]
    (tmp_path / "plain.txt").write_text("The cook met J. Smith, there.\nthe cook")
    elmo_tasks("bilm", "surprisal", tmp_path / "plain.txt", *model)
    plain = rows_of(out)
    for row, expected in zip(rows, plain, strict=True):
        assert "region" not in expected
        for key in ("word", "forward", "backward"):
            assert row[key] == expected[key]


def test_invalid_options(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "x.txt"
    text.write_text("the cook .\n")
    out = tmp_path / "out"
    table = folder / "x/x.csv"
    run = ("--output", out, "--model", folder / "run")
    column = ("--column", "sentence")
    calls: list[tuple[tuple[object, ...], str]] = [
        (("elmo", text, out, *bilm(folder), *column), r"expected a table \(.csv"),
        (("elmo", "-", out, *bilm(folder), *column), "expected a table"),
        (("bilm", "surprisal", text, *run, *column), "expected a table"),
        (("bilm", "surprisal", "-", *run, *column), "expected a table"),
        (
            ("bilm", "surprisal", text, *run, "--keep", "item"),
            "keep: expected a column",
        ),
        (
            ("bilm", "surprisal", table, *run, *column, "--keep", "item,no"),
            "expected one column 'no', got 'item', 'condition', 'sentence'",
        ),
        (
            ("bilm", "surprisal", table, *run, *column, "--keep", "item,word"),
            "keep: expected each name once, and none of the table's own .*, got 'word'",
        ),
        (
            ("bilm", "surprisal", table, *run, *column, "--keep", "item,item"),
            "keep: expected each name once",
        ),
        (
            ("bilm", "surprisal", table, *run, *column, "--keep", "row"),
            "keep: expected each name once, and none of the table's own columns",
        ),
        (
            ("bilm", "surprisal", table, *run, *column, "--keep", "item,,a"),
            "expected one column '', got",
        ),
        (
            ("bilm", "surprisal", table, *run, "--column", "no"),
            "expected one column 'no'",
        ),
    ]
    for call, problem in calls:
        with pytest.raises(InputError, match=problem):
            elmo_tasks(*call)
        assert not out.exists()


@pytest.mark.parametrize("kind", [".csv", ".tsv"])
def test_prepare(folder: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    options = ("--text-field", "sentence", "--language", "en", "--heldout", 0)
    elmo_tasks("bilm", "prepare", folder / f"x/x{kind}", "--output", out, *options)
    with pytest.raises(InputError, match=rf"x\{kind}: expected one column 'text', got"):
        elmo_tasks(
            "bilm", "prepare", folder / f"x/x{kind}", "--output", tmp_path / "other"
        )
