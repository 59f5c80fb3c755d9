"""
Tables in place of texts: an error that names `--column`, with which they are read; the
columns that `bilm surprisal` keeps; regions.
"""

import csv
import gzip
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


def test_a_table_is_no_text(folder: Path, tmp_path: Path) -> None:
    file = folder / "x/x.csv"
    out = tmp_path / "out"
    run = ("--model", folder / "run")
    for command, option in (
        (("elmo", file, out, *bilm(folder)), "--column"),
        (("elmo", file, out, *bilm(folder), "--tokenizer", "basic"), "--column"),
        (("static", file, "--output", out, *bilm(folder)), "--column"),
        (("bilm", "surprisal", file, "--output", out, *run), "--column"),
        (("bilm", "perplexity", file, *run), "--text-field"),
    ):
        with pytest.raises(InputError, match=rf"x\.csv: expected text, .*{option}"):
            elmo_tasks(*command)
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


def test_lists_of_words(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"words": ["New York", "."]}\n{"words": ["b"]}\n')
    elmo_tasks("elmo", file, tmp_path / "a", "--column", "words", *bilm(folder))
    with ElmoVectors(tmp_path / "a") as vectors:
        assert vectors.tokens(0) == ["New York", "."]


ROWS = ["the cook bakes", "", "the\n\ncook", "the cook bakes", ' "the" ', "the", " "]
"""Equal ones, an empty one, one of several lines."""


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("state", ["reset", "carry"])
def test_rows_are_numbered_as_in_a_data_frame(
    folder: Path, tmp_path: Path, kind: str, state: str
) -> None:
    """Also behind blank lines; equal rows stay apart."""
    frame = pandas.DataFrame({"id": "b\tc", "t": ROWS})
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
    options = ("--column", "t", "--keep", "id", "--model", folder / "run")
    outputs = ("--output", tmp_path / "words", "--sentences", tmp_path / "sums")
    elmo_tasks("bilm", "surprisal", file, *options, *outputs, "--state", state)
    bits: dict[str, list[float]] = {}
    for row in rows_of(tmp_path / "words"):
        bits.setdefault(row["row"], []).append(float(row["forward"] or 0))
    sums = rows_of(tmp_path / "sums")
    assert len(sums) == len(ROWS)
    for number, row in enumerate(sums):
        words = len(ROWS[number].split())
        cells = (row["row"], row["id"], row["words"])
        assert cells == (str(number), r"b\tc", str(words))
        of_words = bits.pop(row["row"], [])
        assert len(of_words) == (words + 2 if words else 0)
        assert sum(of_words) == pytest.approx(float(row["forward"]), abs=1e-4)
    assert not bits


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


def test_invalid_options(folder: Path, tmp_path: Path) -> None:
    text = tmp_path / "x.txt"
    text.write_text("the cook .\n")
    out = tmp_path / "out"
    column = ("--column", "sentence")
    surprisal = ("bilm", "surprisal", "--output", out, "--model", folder / "run")
    once = "keep: expected each name once, and none of the table's own columns"
    calls: list[tuple[tuple[object, ...], str]] = [
        ((*surprisal, text, "--keep", "item"), "keep: expected a column"),
        (
            (*surprisal, folder / "x/x.csv", "--column", "no"),
            "expected one column 'no'",
        ),
    ]
    for given in (text, "-"):
        problem = r"expected a table \(.csv"
        calls.append((("elmo", given, out, *bilm(folder), *column), problem))
        calls.append(((*surprisal, given, *column), problem))
    for keep, problem in (
        ("item,no", "one column 'no', got 'item', 'condition', 'sentence'"),
        ("item,,a", "expected one column '', got"),
        ("item,word", f"{once}.*, got 'word'"),
        ("item,item", once),
        ("row", once),
    ):
        table = (*surprisal, folder / "x/x.csv", *column, "--keep", keep)
        calls.append((table, problem))
    for call, problem in calls:
        with pytest.raises(InputError, match=problem):
            elmo_tasks(*call)
        assert not out.exists()
