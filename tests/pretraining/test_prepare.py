"""
Corpora in each format become the same text; held-out blocks; paragraphs; invalid
corpora.
"""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.text.prepare import (
    BLOCK,
    Sentence,
    _paragraphs,
    _split_paragraphs,
    prepare,
)
from tests.pretraining.test_marks import TYPED, as_plain
from tests.test_flow import elmo_tasks

TEXTS = [
    "Gallia est omnis divisa. Incolunt Belgae!",
    "Aquitani tertiam?\n\nEt\u2028cetera.",
]
SPLIT = [
    "Gallia est omnis divisa .",
    "Incolunt Belgae !",
    "Aquitani tertiam ?",
    "Et cetera .",
]


def text_of(folder: Path, split: str = "train") -> list[str]:
    """The lines of all files of a split."""
    lines: list[str] = []
    for file in sorted(folder.glob(f"{split}.*")):
        lines += gzip.decompress(file.read_bytes()).decode().splitlines()
    return lines


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_text_and_tables(tmp_path: Path, name: str) -> None:
    progress: list[tuple[int, int]] = []
    lines = TEXTS
    if name == "a.jsonl":
        lines = [json.dumps({"id": 1, "body": text}) for text in TEXTS]
    if name == "a.parquet":
        parquet.write_table(arrow.table({"body": TEXTS}), tmp_path / name)
    else:
        (tmp_path / name).write_text("\n".join(lines))
    prepare(
        [str(tmp_path / name)],
        tmp_path / "out",
        language="la",
        text_field="body",
        progress=lambda done, total: progress.append((done, total)),
    )
    assert text_of(tmp_path / "out") == SPLIT
    assert progress == [(1, 1)]


def test_blocks_are_held_out(tmp_path: Path) -> None:
    lines = [f"line {n}" for n in range(121 * BLOCK)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    for heldout, blocks in ((100, (1, 101)), (3, range(1, 121, 3))):
        out = tmp_path / str(heldout)
        prepare([str(tmp_path / "a.txt")], out, heldout=heldout)
        expected = []
        for block in blocks:
            expected += lines[block * BLOCK : (block + 1) * BLOCK]
        assert text_of(out, "heldout") == expected
        assert len(expected) + len(text_of(out)) == len(lines)
    assert BLOCK == 20


def test_one_short_file_in_n_is_held_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"text {number}\n")
    prepare([str(tmp_path / "*.txt")], tmp_path / "out", heldout=3)
    assert text_of(tmp_path / "out") == ["text 0", "text 2", "text 3"]
    assert text_of(tmp_path / "out", "heldout") == ["text 1"]
    prepare([str(tmp_path / "0.txt")], tmp_path / "none", heldout=3)
    (message,) = caplog.messages
    assert message.endswith(
        "none: nothing is held out, there are fewer than 21 paragraphs"
    )


CORPORA: dict[str, tuple[str | bytes, str]] = {
    "a.txt": (b"unus\n\xff\n", "a.txt:2: expected UTF-8 text"),
    "a.jsonl": ('{"text": 3}\n', "a.jsonl:1: expected a string or a list"),
    "b.jsonl": (
        '{"text": ["a"]}\n',
        "b.jsonl:1: expected a text .*got a list of words",
    ),
    "b.txt": ("\n \n", "b.txt: expected text, got none"),
    "d.parquet": ("not a table", "cannot read the table"),
}


@pytest.mark.parametrize("name", CORPORA)
def test_invalid_corpora_leave_no_files(name: str, tmp_path: Path) -> None:
    content, problem = CORPORA[name]
    if isinstance(content, str):
        content = content.encode()
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        prepare([str(tmp_path / name)], tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == [name]


WRAPPED = """\
Gallia est omnis divisa in partes tres, quarum unam incolunt
Belgae, aliam Aquitani, tertiam qui ipsorum lingua Celtae, nostra
Galli appellantur. Hi omnes lingua, institutis, legibus inter se
differunt.

Gallos ab Aquitanis Garumna flumen, a Belgis Matrona et Sequana
dividit. Horum omnium fortissimi sunt Belgae, propterea quod a cultu
atque humanitate provinciae longissime absunt.
"""


def test_wrapped_lines(tmp_path: Path) -> None:
    """Sentences go on in the next line; a text of a table ends its last one."""
    (tmp_path / "wrapped.txt").write_text(WRAPPED)
    pages = [json.dumps({"text": WRAPPED}), json.dumps({"text": "Una pagina."})]
    (tmp_path / "pages.jsonl").write_text("\n".join(pages))
    given: dict[str, Any] = {"language": "la", "heldout": 0}
    prepare([str(tmp_path / "*.*")], tmp_path / "out", wrapped=True, **given)
    lines = text_of(tmp_path / "out")
    assert lines[:5] == lines[5:] + ["Una pagina ."]
    assert len(lines[5:]) == 4
    assert all(line.endswith(" .") for line in lines)
    prepare([str(tmp_path / "wrapped.txt")], tmp_path / "line", **given)
    assert "Belgae , aliam Aquitani" in text_of(tmp_path / "line")[1]


def by_periods(text: str) -> list[Sentence]:
    """An independent splitter: a sentence ends after each period."""
    found = re.finditer(r"\S[^.]*\.?", text)
    return [(match.start(), match[0].split()) for match in found]


@given(st.lists(st.integers(0, 3), max_size=30), st.booleans())
def test_paragraphs_are_numbered(blank_lines: list[int], wrapped: bool) -> None:
    lines = []
    expected: list[Sentence] = []
    for number, count in enumerate(blank_lines):
        blank = ("", " ", "\t", "\u3000")[count]
        lines += [f"a{number}", f"b{number}.", "c."] + [blank] * (count + 1)
        if wrapped:
            expected += [(number, [f"a{number}", f"b{number}."]), (number, ["c."])]
        else:
            words = [[f"a{number}"], [f"b{number}."], ["c."]]
            expected += list(enumerate(words, start=3 * number))
    found = _split_paragraphs(_paragraphs([lines], wrapped), by_periods)  # type: ignore[arg-type]
    assert list(found) == expected


def test_a_long_paragraph_counts_as_several() -> None:
    long = ("x" * 498 + ". ") * 5  # sentences of 499 characters, and a blank
    found = _split_paragraphs([long, "b. c.", "d"], by_periods)  # type: ignore[arg-type]
    assert [number for number, _ in found] == [0, 0, 1, 1, 2, 3, 3, 4]


def test_the_command_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(WRAPPED)
    (tmp_path / "b.txt").write_text("".join(f"Linea {n}.\n\n" for n in range(60)))
    out = tmp_path / "out"
    files = (tmp_path / "a.txt", tmp_path / "b.txt")
    options = ("--output", out, "--language", "la", "--heldout", 3, "--wrapped")
    elmo_tasks("bilm", "prepare", *files, *options)
    assert capsys.readouterr().out.splitlines() == [
        f"{out}/train.*.txt.gz: 2 files, 44 sentences, 186 words",
        f"{out}/heldout.*.txt.gz: 1 files, 20 sentences, 60 words",
    ]


def test_options_that_do_not_go_together(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    problem = "wrapped: .*add --language CODE; xx has rules for any"
    with pytest.raises(InputError, match=problem):
        prepare([str(tmp_path / "a.txt")], tmp_path / "out", wrapped=True)
    with pytest.raises(InputError, match="rules for, got 'zz'"):
        prepare([str(tmp_path / "a.txt")], tmp_path / "out", language="zz")


def test_what_became_of_each_file(tmp_path: Path) -> None:
    texts = ("unus duo\ntres .\n", "quattuor quinque\n", "linea x\n" * 3 * BLOCK)
    for name, text in zip("abc", texts, strict=True):
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "d.jsonl").write_text('{"text": "sex septem"}\n{"text": "octo"}\n')
    found = prepare([str(tmp_path / "*.*")], tmp_path / "out", heldout=3)
    assert [(Path(one.file).name, *one[1:]) for one in found] == [
        ("a.txt", "train", 2, 4),
        ("b.txt", "heldout", 1, 2),
        ("c.txt", "train", 40, 80),
        ("c.txt", "heldout", 20, 40),
        ("d.jsonl", "train", 2, 3),
    ]
    names = [path.name for path in sorted((tmp_path / "out").iterdir())]
    assert names == [
        "heldout.0001.b.txt.gz",
        "heldout.0002.c.txt.gz",
        "train.0000.a.txt.gz",
        "train.0002.c.txt.gz",
        "train.0003.d.txt.gz",
    ]
    packed = (tmp_path / "out/train.0000.a.txt.gz").read_bytes()
    assert packed[3:8] == bytes(5)  # neither a name nor a time


def test_folders(tmp_path: Path) -> None:
    """An empty one is filled; one with files stays, as does a file."""
    (tmp_path / "a.txt").write_text("a\n")
    inputs = [str(tmp_path / "a.txt")]
    (tmp_path / "x").mkdir()
    (tmp_path / "y").touch()
    prepare(inputs, tmp_path / "x")
    for name in ("x", "y"):
        with pytest.raises(InputError, match=f"{name}: .*name another, or remove it"):
            prepare(inputs, tmp_path / name)
    assert len(list((tmp_path / "x").iterdir())) == 1


def test_raw_text_without_a_language_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").write_text("She left.\n")
    prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=0)
    (message,) = caplog.messages
    assert message.endswith("; --language splits raw text")


def test_marks(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The text for a model has the marks of its vocabulary, any other its own."""
    (tmp_path / "typed.txt").write_text("\n".join(TYPED), "utf-8")
    (tmp_path / "plain.txt").write_text(as_plain("\n".join(TYPED)), "utf-8")
    options: dict[str, Any] = {"language": "en", "heldout": 0}
    for name in ("typed", "plain"):
        file = str(tmp_path / f"{name}.txt")
        prepare([file], tmp_path / name, model="bundled", **options)
    [message] = caplog.messages
    assert "typographic marks" in message
    assert text_of(tmp_path / "typed") == text_of(tmp_path / "plain")
    prepare([str(tmp_path / "typed.txt")], tmp_path / "own", **options)
    assert "aren’t" not in text_of(tmp_path / "typed") != text_of(tmp_path / "own")
