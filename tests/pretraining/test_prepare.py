"""
Corpora in each format become the same text; held-out blocks; paragraphs; invalid
corpora.
"""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.text.prepare import prepare
from elmo_tasks.pretraining.text.splits import BLOCK
from tests.system import require_path
from tests.test_flow import elmo_tasks

TEXTS = ["Gallia est omnis divisa. Incolunt Belgae!", "Aquitani tertiam?\n\nEt cetera."]
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


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_text_and_json_lines(tmp_path: Path, name: str) -> None:
    progress: list[tuple[int, int]] = []

    def told(done: int, total: int) -> None:
        progress.append((done, total))

    lines = TEXTS
    if name == "a.jsonl":
        lines = [json.dumps({"id": 1, "body": text}) for text in TEXTS]
    (tmp_path / name).write_text("\n".join(lines))
    prepare(
        [str(tmp_path / name)],
        tmp_path / "out",
        language="la",
        text_field="body",
        progress=told,
    )
    assert text_of(tmp_path / "out") == SPLIT
    assert progress == [(1, 1)]


@pytest.mark.slow
def test_parquet_in_two_processes(tmp_path: Path) -> None:
    table = arrow.table({"body": TEXTS})
    (tmp_path / "corpus").mkdir()
    for name in ("a.parquet", "b.parquet"):
        parquet.write_table(table, tmp_path / "corpus" / name)
    prepare(
        [str(tmp_path / "corpus")],
        tmp_path / "out",
        language="la",
        text_field="body",
        heldout=0,
        workers=2,
    )
    assert text_of(tmp_path / "out") == SPLIT * 2
    with pytest.raises(InputError, match="one column 'text', got 'body'"):
        prepare([str(tmp_path / "corpus")], tmp_path / "other")


def test_blocks_are_held_out(tmp_path: Path) -> None:
    lines = [f"line {n}" for n in range(5 * BLOCK)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=3)
    held = text_of(tmp_path / "out", "heldout")
    assert held == lines[BLOCK : 2 * BLOCK] + lines[4 * BLOCK :]
    assert len(held) + len(text_of(tmp_path / "out")) == 5 * BLOCK


def test_one_short_file_in_n_is_held_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"text {number}\n")
    prepare([str(tmp_path)], tmp_path / "out", heldout=3)
    assert text_of(tmp_path / "out") == ["text 0", "text 2", "text 3"]
    assert text_of(tmp_path / "out", "heldout") == ["text 1"]
    prepare([str(tmp_path / "0.txt")], tmp_path / "none", heldout=3)
    (message,) = caplog.messages
    assert message.endswith(
        "none: nothing is held out, there are fewer than 21 paragraphs"
    )


def test_lines_that_are_no_text_are_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").write_bytes(b"unus duo\n\xff\ntres\0\nquattuor\n")
    (tmp_path / "b.jsonl").write_text('{"text": "quinque\\u0000"}\n')
    prepare(
        [str(tmp_path / "a.txt"), str(tmp_path / "b.jsonl")],
        tmp_path / "out",
        heldout=0,
    )
    assert text_of(tmp_path / "out") == ["unus duo", "quattuor", "quinque"]
    assert "no text: 2, the first is" in caplog.text and "a.txt:2" in caplog.text


def test_invalid_corpora_leave_no_files(tmp_path: Path) -> None:
    cases = {
        "a.jsonl": (
            '{"text": 3}\n',
            "a.jsonl:1: expected a string or a list of strings in 'text', got 3",
        ),
        "words.jsonl": (
            '{"text": ["a"]}\n',
            "words.jsonl:1: expected a text in 'text', got a list of words",
        ),
        "b.txt": ("\n \n", "expected text, got none"),
        "d.parquet": ("not a table", "cannot read the table"),
    }
    for number, (name, (text, problem)) in enumerate(cases.items()):
        (tmp_path / name).write_text(text)
        with pytest.raises(InputError, match=problem):
            prepare([str(tmp_path / name)], tmp_path / str(number))
        assert not (tmp_path / str(number)).exists()
    with pytest.raises(InputError, match="rules for, got 'zz'"):
        prepare([str(tmp_path / "b.txt")], tmp_path / "out", language="zz")


WRAPPED = """\
Gallia est omnis divisa in partes tres, quarum unam incolunt
Belgae, aliam Aquitani, tertiam qui ipsorum lingua Celtae, nostra
Galli appellantur. Hi omnes lingua, institutis, legibus inter se
differunt.

Gallos ab Aquitanis Garumna flumen, a Belgis Matrona et Sequana
dividit. Horum omnium fortissimi sunt Belgae, propterea quod a cultu
atque humanitate provinciae longissime absunt.
"""
WRAPPED_SENTENCES = 4


def test_wrapped_lines(tmp_path: Path) -> None:
    """Sentences go on in the next line; a text of a table ends its last one."""
    (tmp_path / "wrapped.txt").write_text(WRAPPED)
    pages = [json.dumps({"text": WRAPPED}), json.dumps({"text": "Una pagina."})]
    (tmp_path / "pages.jsonl").write_text("\n".join(pages))
    given: dict[str, Any] = {"language": "la", "heldout": 0}
    prepare([str(tmp_path)], tmp_path / "out", wrapped=True, **given)
    lines = text_of(tmp_path / "out")
    pages = lines[:5]
    wrapped = lines[5:]
    assert pages == wrapped + ["Una pagina ."]
    assert len(wrapped) == WRAPPED_SENTENCES
    assert all(line.endswith(" .") for line in wrapped)
    prepare([str(tmp_path / "wrapped.txt")], tmp_path / "line", **given)
    assert "Belgae , aliam Aquitani" in text_of(tmp_path / "line")[1]


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


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """
    Files of which the second has held-out text alone, the third both, the last JSON
    lines.
    """
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt").write_text("unus duo\ntres .\n")
    (folder / "b.txt").write_text("quattuor quinque\n")
    (folder / "c.txt").write_text("".join(f"linea {n}\n" for n in range(3 * BLOCK)))
    (folder / "d.jsonl").write_text('{"text": "sex septem"}\n{"text": "octo"}\n')
    return [str(file) for file in sorted(folder.iterdir())]


@pytest.mark.slow
def test_a_killed_worker_ends_the_command(tmp_path: Path) -> None:
    """In one line, and leaves nothing."""
    require_path("/proc/self/status")
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    corpus.mkdir()
    for number in range(4):
        text = "Una linea. Alia sententia est.\n" * 2000
        (corpus / f"{number}.txt").write_text(text)
    arguments = ["bilm", "prepare", str(corpus), "--language", "la", "--output"]
    command = [sys.executable, "-m", "elmo_tasks", *arguments, str(out)]
    command += ["--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not list(tmp_path.glob(".out.*/out/.train.*")):
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(int(children.read_text().split()[-1]), signal.SIGKILL)
        _, errors = process.communicate()
    assert process.returncode == 1
    assert "error: a worker process was killed" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == [corpus]


def test_one_block_in_a_hundred_is_held_out(tmp_path: Path) -> None:
    lines = [f"line {n}" for n in range(121 * BLOCK)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    prepare([str(tmp_path / "a.txt")], tmp_path / "out")
    expected = lines[BLOCK : 2 * BLOCK] + lines[101 * BLOCK : 102 * BLOCK]
    assert text_of(tmp_path / "out", "heldout") == expected
    assert BLOCK == 20


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"heldout": 1}, "heldout.* 0, or an integer of at least 2, got 1"),
        ({"heldout": -1}, "heldout.* got -1"),
        ({"workers": 0}, "workers.* got 0"),
        ({"wrapped": True}, "wrapped: .*add --language CODE; xx has rules for any"),
    ],
)
def test_options_that_are_wrong(
    options: dict[str, Any], problem: str, inputs: list[str], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=problem):
        prepare(inputs, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_what_became_of_each_file(inputs: list[str], tmp_path: Path) -> None:
    (tmp_path / "link.txt").symlink_to(inputs[0])
    given = [str(tmp_path / "link.txt"), *inputs, inputs[0]]
    found = prepare(given, tmp_path / "out", heldout=3)
    assert [one.file for one in found] == ["a.txt", "b.txt", "c.txt", "d.jsonl"]
    counts = [(one.train, one.heldout) for one in found]
    assert counts == [
        ((2, 4), (0, 0)),
        ((0, 0), (1, 2)),
        ((40, 80), (20, 40)),
        ((2, 3), (0, 0)),
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


def test_folders(inputs: list[str], tmp_path: Path) -> None:
    """An empty one is filled; one with files stays, as does a file."""
    (tmp_path / "x").mkdir()
    prepare(inputs, tmp_path / "x", heldout=3)
    before = sorted((tmp_path / "x").iterdir())
    (tmp_path / "y").touch()
    for name in ("x", "y"):
        with pytest.raises(InputError, match=f"{name}: .*name another, or remove it"):
            prepare(inputs, tmp_path / name, heldout=3)
    assert sorted((tmp_path / "x").iterdir()) == before
    with pytest.raises(InputError, match="y/z: cannot write: File exists"):
        prepare(inputs, tmp_path / "y/z")


def test_inputs(inputs: list[str], tmp_path: Path) -> None:
    """Folders give the files of known kinds in them and below."""
    folder = tmp_path / "corpus"
    (folder / "below").mkdir()
    (folder / "below/e.txt").write_text("e\n")
    (folder / "f.md").write_text("f\n")
    (folder / "g.txt").mkdir()
    found = prepare([str(folder)], tmp_path / "out", heldout=0)
    assert [one.file for one in found] == [
        "a.txt",
        "b.txt",
        "e.txt",
        "c.txt",
        "d.jsonl",
    ]
    (tmp_path / "empty").mkdir()
    problem = (
        "empty: expected files that end in .txt, .jsonl, .parquet, .gz, .zst, found"
    )
    with pytest.raises(InputError, match=problem):
        prepare([str(tmp_path / "empty")], tmp_path / "other")
    with pytest.raises(InputError, match="nothing matches"):
        prepare([str(tmp_path / "none.txt")], tmp_path / "other")
    inside = prepare([str(tmp_path / "corpus")], tmp_path / "corpus/out", heldout=0)
    assert len(inside) == 5
    with pytest.raises(InputError, match="expected a text, got no name"):
        prepare([], tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_raw_text_without_a_language_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").write_text("She left.\n")
    prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=0)
    (message,) = caplog.messages
    assert message.endswith("; --language splits raw text")
