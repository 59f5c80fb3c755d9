"""`elmo-tasks bilm`: arguments and output."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.system.run_names import LANGUAGE_MODEL
from tests.pretraining import toy
from tests.test_flow import elmo_tasks

bilm = partial(elmo_tasks, "bilm")

WORDS = ["the", "cook", "bakes", "."]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    toy.fake_run(tmp_path / "run", WORDS)
    return tmp_path / "run"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("the cook bakes .\nthe sailor bakes .\n")
    return path


def test_export_then_perplexity(
    run: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    bilm("export", run, out)
    shown = capsys.readouterr().out
    assert f"weights of {run / 'best.th'}" in shown
    assert re.findall(r"bytes +(\S+)", shown) == [
        str(out / name) for name in [*LANGUAGE_MODEL, "README.md"]
    ]
    bilm("perplexity", text, "--model", run)
    of_run = capsys.readouterr().out.splitlines()
    bilm("perplexity", text, "--model", out)
    of_export = capsys.readouterr().out.splitlines()
    assert of_run[1:] == of_export[1:]
    tokens, unknown, forward, backward, mean, _, name = of_run[2].split()
    assert (tokens, unknown, name) == ("10", "10.00", str(text))
    assert float(mean) == pytest.approx(
        (float(forward) * float(backward)) ** 0.5, rel=1e-3
    )
    assert len(of_run) == 3


def rows_of(file: Path) -> list[list[str]]:
    return [line.split("\t") for line in file.read_text().splitlines()]


def test_surprisal(
    run: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One row per token; the perplexity follows from their sums."""
    text.write_text("the cook bakes .\n\nthe sailor bakes .\n")
    expected = []
    for line, word in (("1", "cook"), ("3", "sailor")):
        for position, token in enumerate(["<S>", "the", word, "bakes", ".", "</S>"]):
            known = "1" if token == "sailor" else "0"
            place = [str(text), line, str(int(line) - 1), str(position)]
            expected.append([*place, token, known])
    files = ("--output", tmp_path / "out.tsv", "--sentences", tmp_path / "sums.tsv")
    for state, options in (("reset", ("--state", "reset")), ("carry", ())):
        capsys.readouterr()
        bilm("perplexity", text, "--model", run, "--batch-size", 1, *options)
        measured = capsys.readouterr().out.splitlines()[-1].split()
        bilm("surprisal", text, "--model", run, "--state", state, *files, "--force")
        said = capsys.readouterr().out.splitlines()[-1]
        assert said == "1 of 8 words are outside the vocabulary (oov): 'sailor'"
        header, *rows = rows_of(tmp_path / "out.tsv")
        assert header[:5] == ["file", "line", "row", "position", "word"]
        assert header[5:] == ["forward", "backward", "oov"]
        assert [row[:5] + row[7:] for row in rows] == expected
        header, *sums = rows_of(tmp_path / "sums.tsv")
        assert header == ["file", "line", "row", "words", "oov", "forward", "backward"]
        assert [row[:5] for row in sums] == [
            [str(text), "1", "0", "4", "0"],
            [str(text), "3", "2", "4", "1"],
        ]
        for column, perplexity in ((5, measured[2]), (6, measured[3])):
            bits = [float(row[column]) for row in rows if row[column]]
            assert 2 ** (sum(bits) / 10) == pytest.approx(float(perplexity), rel=1e-4)
            assert sum([float(row[column]) for row in sums]) == pytest.approx(sum(bits))


def test_surprisal_of_several_files(run: Path, text: Path, tmp_path: Path) -> None:
    """Each starts from zeros, in the order of the arguments."""
    other = tmp_path / "another.txt"
    other.write_text("the cook bakes .\n")
    out = tmp_path / "out.tsv"
    bilm("surprisal", text, other, "--model", run, "--output", out, "--state", "carry")
    _, *rows = rows_of(out)
    assert [row[0] for row in rows] == [str(text)] * 12 + [str(other)] * 6
    assert [row[5:] for row in rows[:6]] == [row[5:] for row in rows[12:]]


@pytest.mark.parametrize(
    ("sentence", "options", "problem"),
    [
        (["the cook", "bakes ."], [], "1: expected words without blanks.*--regions"),
        ("the cook | bakes .", ["--regions", "/"], "regions: expected '/' in a"),
    ],
)
def test_regions_that_would_be_words(
    sentence: Any, options: list[str], problem: str, run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "stimuli.jsonl"
    file.write_text(json.dumps({"text": sentence}) + "\n")
    out = tmp_path / "out.tsv"
    with pytest.raises(InputError, match=problem):
        bilm(
            "surprisal",
            file,
            "--column",
            "text",
            "--model",
            run,
            "--output",
            out,
            *options,
        )
    assert not out.exists()


def test_surprisal_that_cannot_be_written(
    run: Path, text: Path, tmp_path: Path
) -> None:
    """What is there stays."""
    out = tmp_path / "out.tsv"
    out.write_text("mine")
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    for files, message in (
        ((text, "--output", out), "out.tsv: the file exists"),
        ((text, "--output", tmp_path / "out.csv"), "with tabs, such as words.tsv, got"),
        ((text, "--output", text, "--force"), "overwrite an input file"),
        ((text, "--output", run / "best.th", "--force"), "overwrite an input file"),
        (
            (text, empty, "--output", out, "--force"),
            "empty.txt: no sentence in this file",
        ),
        ((tmp_path / "no.txt", "--output", out, "--force"), "no.txt"),
    ):
        with pytest.raises(InputError, match=message):
            bilm("surprisal", *files, "--model", run)
    with pytest.raises(InputError, match="overwrite an input file"):
        bilm("surprisal", text, "--model", out, "--output", out)
    assert out.read_text() == "mine"


def test_what_is_probably_another_text(
    run: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table, raw = tmp_path / "words.csv", tmp_path / "raw.txt"
    table.write_text("word\n" + "the\n" * 11 + "the cook\n")
    options = ("--column", "word", "--output", tmp_path / "out.tsv")
    bilm("surprisal", table, "--model", run, *options)
    assert "words.csv: each row is a sentence, but most have one word" in caplog.text
    table.write_text('word\nthe|cook||bakes\nthe cook\n""\n"the\ncook"\n')
    bilm("surprisal", table, "--model", run, *options, "--force")
    assert "words.csv:5: a cell with a line break, so check" in caplog.text
    assert "words.csv:2: | is read as text; --regions '|'" in caplog.text
    assert "empty region" not in caplog.text
    bilm("surprisal", table, "--model", run, *options, "--force", "--regions", "|")
    assert "words.csv:2: a region is empty, and counts" in caplog.text
    assert "words.csv:3: no '|', so one region (such rows: 2)" in caplog.text
    assert "words.csv:4: no words, so no rows of a word" in caplog.text
    for number, mark in enumerate(
        ("caf\ufffd", "cookâ€™s", "&#8217;s", "can?t", "</S>")
    ):
        raw.write_text(f"the cook\nthe {mark}\nAT&T; R&D ; & ;\n")
        out = ("--output", tmp_path / f"{number}.tsv")
        bilm("surprisal", raw, "--model", run, *out)
        assert "raw.txt:2: " in caplog.text
        assert "so the text seems damaged (such rows: 1)" in caplog.text
        caplog.clear()
    raw.write_text("the cook bakes.\n")
    bilm("perplexity", raw, "--model", run)
    assert "seems not to be tokenised, as in 'bakes.'" in caplog.text


def test_a_file_of_several_names_counts_once(
    run: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.txt").symlink_to(text)
    names = ("text.txt", "*.txt", text, "run/../text.txt", "link.txt")
    bilm("surprisal", *names, "--model", run, "--output", "out.tsv")
    _, *rows = rows_of(tmp_path / "out.tsv")
    assert [row[0] for row in rows] == ["text.txt"] * 12
    text.write_text(json.dumps(PAIRS[0]))
    bilm("score", "--pairs", *names, "--model", run, "--output", "pairs.tsv")
    assert len(rows_of(tmp_path / "pairs.tsv")) == 2


@pytest.mark.parametrize(
    "odd", ["a\tb", "a\nb", "a\rb", "a\x85b", "a\u2028b", "a\udcffb"]
)
def test_odd_names_of_files_and_groups(
    run: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], odd: str
) -> None:
    """They take one cell of a table."""
    file, out = tmp_path / odd, tmp_path / "out.tsv"
    file.write_text("the cook bakes .\n")
    bilm("surprisal", file, "--model", run, "--output", out)
    name = f"{tmp_path}/{repr(odd)[1:-1]}"
    _, *rows = rows_of(out)
    assert [(len(row), row[0]) for row in rows] == [(8, name)] * 6
    file.write_text(json.dumps({**PAIRS[0], "UID": odd}))
    capsys.readouterr()
    bilm("score", "--pairs", file, "--model", run, "--output", out, "--force")
    _, row = rows_of(out)
    assert row[:4] == [name, "1", "0", repr(odd)[1:-1]]
    assert len(capsys.readouterr().out.splitlines()) == 4


PAIRS = [
    {"sentence_good": "the cook bakes .", "sentence_bad": "the sailor .", "UID": "a"},
    {"good": "the cook .", "bad": "the cook .", "UID": "b"},
]


def test_score(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bits of a pair are those of surprisal."""
    file, out = tmp_path / "pairs.jsonl", tmp_path / "pairs.tsv"
    file.write_text("\n".join([json.dumps(pair) for pair in PAIRS]) + "\n")
    bilm("score", "--pairs", file, "--model", run, "--output", out)
    first, _, *lines = capsys.readouterr().out.splitlines()
    assert first == f"weights of {run / 'best.th'}, 7 words; guessing has 50 %"
    assert [line.split()[-1] for line in lines] == ["a", "b", "all", "<UNK>"]
    tie = ["50.00", "5.46", "-", "94.54"]
    assert lines[1].split() == ["1", *tie, *tie, *tie, "1", "0.00", "b"]
    _, *rows = rows_of(out)
    assert [row[:5] for row in rows] == [
        [str(file), "1", "0", "a", "1"],
        [str(file), "2", "1", "b", "0"],
    ]
    text, sums = tmp_path / "text.txt", tmp_path / "sums.tsv"
    text.write_text("the cook bakes .\nthe sailor .\n")
    outputs = ("--output", tmp_path / "words.tsv", "--sentences", sums)
    bilm("surprisal", text, "--model", run, *outputs)
    _, good, bad = rows_of(sums)
    assert rows[0][5:] == [good[5], bad[5], good[6], bad[6]]
    file.write_text(json.dumps(PAIRS[0]) + "\nnothing\n")
    with pytest.raises(InputError, match="pairs.jsonl:2: expected a JSON object"):
        bilm("score", "--pairs", file, "--model", run, "--output", out, "--force")
    assert rows_of(out)[1:] == rows
