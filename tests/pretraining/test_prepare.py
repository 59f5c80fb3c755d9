"""
Corpora in each format become the same text; held-out blocks; paragraphs; invalid
corpora; interruptions.
"""

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import FrozenInstanceError
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.components.allennlp_vocabulary import LmVocabulary
from elmo_tasks.pretraining.components.data_loader import LmDataLoader
from elmo_tasks.pretraining.components.reader import LmReader
from elmo_tasks.pretraining.text.paragraphs import Line
from elmo_tasks.pretraining.text.prepare import prepare
from elmo_tasks.pretraining.text.raw_files import read_lines
from elmo_tasks.pretraining.text.sentences import expand_files
from elmo_tasks.pretraining.text.splits import BLOCK, Written
from elmo_tasks.pretraining.text.text_folder import Prepared
from tests.killing import killed_at_event
from tests.pretraining import toy
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


def write(file: Path) -> Path:
    """`TEXTS` in the format that the suffix names."""
    lines = TEXTS
    if ".jsonl" in file.suffixes:
        lines = [json.dumps({"id": 1, "body": text}) for text in TEXTS]
    raw = "".join(f"{line}\n" for line in lines).encode()
    if file.suffix == ".zst":
        raw = arrow.compress(raw, codec="zstd", asbytes=True)
    if file.suffix == ".gz":
        raw = gzip.compress(raw)
    file.write_bytes(raw)
    return file


@pytest.mark.parametrize(
    "name", ["a.txt", "a.txt.gz", "a.txt.zst", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst"]
)
def test_text_and_json_lines(tmp_path: Path, name: str) -> None:
    progress: list[tuple[int, int]] = []

    def told(done: int, total: int) -> None:
        progress.append((done, total))

    prepare(
        [str(write(tmp_path / name))],
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
    with pytest.raises(InputError, match="a column 'text', got 'body'"):
        prepare([str(tmp_path / "corpus")], tmp_path / "other")


def test_blocks_are_held_out_and_a_second_call_overwrites_nothing(
    tmp_path: Path,
) -> None:
    lines = [f"line {n}" for n in range(5 * BLOCK)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=3)
    held = text_of(tmp_path / "out", "heldout")
    assert held == lines[BLOCK : 2 * BLOCK] + lines[4 * BLOCK :]
    assert len(held) + len(text_of(tmp_path / "out")) == 5 * BLOCK
    with pytest.raises(
        InputError, match="out: the folder already has files of a training text"
    ):
        prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=3)


def test_one_short_file_in_n_is_held_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"text {number}\n")
    prepare([str(tmp_path)], tmp_path / "out", heldout=3)
    assert text_of(tmp_path / "out") == ["text 0", "text 2", "text 3"]
    assert text_of(tmp_path / "out", "heldout") == ["text 1"]
    prepare([str(tmp_path / "0.txt")], tmp_path / "none", heldout=3)
    assert "nothing is held out" in caplog.text


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
            '{"body": 3}\n',
            ":1: expected 'text' to be|:1: expected a JSON object with 'text'",
        ),
        "b.txt": ("\n \n", "expected text, got none"),
        "e.txt.zst": (
            arrow.compress(b"text" * 99, codec="zstd", asbytes=True)[:-2],
            "Truncated compressed stream",
        ),
        "d.parquet": ("not a table", "cannot read the table"),
    }
    for number, (name, (text, problem)) in enumerate(cases.items()):
        (tmp_path / name).write_bytes(
            text if isinstance(text, bytes) else text.encode()
        )
        with pytest.raises(InputError, match=problem):
            prepare([str(tmp_path / name)], tmp_path / str(number))
        assert not list((tmp_path / str(number)).glob("*"))
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


def test_sentences_go_on_in_the_next_line_of_wrapped_text(tmp_path: Path) -> None:
    (tmp_path / "wrapped.txt").write_text(WRAPPED)
    (tmp_path / "lines.txt").write_text("\n".join(SPLIT))
    pages = [json.dumps({"text": WRAPPED}), json.dumps({"text": "Una pagina."})]
    (tmp_path / "pages.jsonl").write_text("\n".join(pages))
    prepared = prepare([str(tmp_path)], tmp_path / "out", language="la", heldout=0)
    found = {one.file: (one.documents, one.paragraphs) for one in prepared}
    assert found == {
        "lines.txt": (1, "line"),
        "pages.jsonl": (2, "blank"),
        "wrapped.txt": (1, "blank"),
    }
    lines = text_of(tmp_path / "out")
    assert lines[:4] == SPLIT
    pages = lines[4:9]
    wrapped = lines[9:]
    assert pages == wrapped + ["Una pagina ."]
    assert len(wrapped) == WRAPPED_SENTENCES
    assert all(line.endswith(" .") for line in wrapped)
    assert [one.train.sentences for one in prepared] == [4, 5, 4]
    words = [one.train.words for one in prepared]
    assert sum(words) == len(" ".join(lines).split())


def test_paragraphs_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(WRAPPED)
    given = {"language": "la", "heldout": 0}
    prepare([str(tmp_path / "a.txt")], tmp_path / "line", paragraphs="line", **given)
    assert "Belgae , aliam Aquitani" in text_of(tmp_path / "line")[1]
    (tmp_path / "b.txt").write_text("Gallia est\n\nomnis divisa\nin partes tres.")
    prepare([str(tmp_path / "b.txt")], tmp_path / "blank", paragraphs="blank", **given)
    assert text_of(tmp_path / "blank") == [
        "Gallia est",
        "omnis divisa in partes tres .",
    ]
    with pytest.raises(InputError, match="paragraphs: expected a language"):
        prepare([str(tmp_path / "a.txt")], tmp_path / "out", paragraphs="blank")
    with pytest.raises(
        InputError, match="expected one of line, blank or null, got 'page'"
    ):
        prepare([str(tmp_path / "a.txt")], tmp_path / "out", paragraphs="page")


def test_the_command_counts_and_says_how_it_read_the_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text(WRAPPED)
    (tmp_path / "b.txt").write_text("".join(f"Linea {n}.\n" for n in range(60)))
    out = tmp_path / "out"
    command = (
        "bilm",
        "prepare",
        tmp_path / "a.txt",
        tmp_path / "b.txt",
        "--output",
        out,
    )
    elmo_tasks(*command, "--language", "la", "--heldout", 3)
    assert capsys.readouterr().out.splitlines() == [
        f"{out}/train.*.txt.gz: 2 files, 44 sentences, 186 words",
        f"{out}/heldout.*.txt.gz: 1 files, 20 sentences, 60 words",
        "read 2 documents in 2 files",
        "each line is a paragraph (--paragraphs line): b.txt",
        "lines are wrapped, and blank lines end paragraphs (--paragraphs blank): a.txt",
    ]
    assert json.loads((out / "_SUCCESS").read_text()) == {
        "documents": 2,
        "train": {"sentences": 44, "words": 186},
        "heldout": {"sentences": 20, "words": 60},
    }


def test_outputs_inside_the_input_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\n")
    prepare([str(tmp_path)], tmp_path / "out", heldout=0)
    (tmp_path / "out" / "_SUCCESS").unlink()
    prepare([str(tmp_path)], tmp_path / "out", heldout=0)
    assert text_of(tmp_path / "out") == ["one two"]
    with pytest.raises(InputError, match="expected the text in another folder"):
        prepare([str(tmp_path)], tmp_path)


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


def tree(folder: Path) -> dict[str, bytes | None]:
    """All files and folders, but what a killed call was writing."""
    found: dict[str, bytes | None] = {}
    for path in folder.rglob("*"):
        if any(part.endswith(".tmp") for part in path.relative_to(folder).parts):
            continue
        content = path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(folder))] = content
    return found


def prepare_in_thirds(inputs: list[str], out: Path) -> list[Prepared]:
    return prepare(inputs, out, heldout=3)


@pytest.mark.slow
def test_a_call_killed_before_any_change_resumes(
    inputs: list[str], tmp_path: Path
) -> None:
    inputs = [inputs[2], inputs[1]]  # with sentences in both splits, and in one
    prepare_in_thirds(inputs, tmp_path / "whole")
    expected = tree(tmp_path / "whole")
    assert sorted(expected) == [
        "_SUCCESS",
        "_prepare.json",
        "heldout.0000.c.txt.gz",
        "heldout.0001.b.txt.gz",
        "train.0000.c.txt.gz",
    ]
    kills = resumed = 0
    while True:
        out = tmp_path / str(kills)
        if killed_at_event(kills + 1, out, prepare_in_thirds, inputs, out) == 0:
            break
        kills += 1
        if (out / "_SUCCESS").exists():
            with pytest.raises(InputError, match="has files of a training text"):
                prepare_in_thirds(inputs, out)
        else:
            for split in ("train", "heldout"):
                with pytest.raises(InputError, match="not complete|nothing matches"):
                    expand_files(str(out / f"{split}.*"))
            prepare_in_thirds(inputs, out)
            resumed += 1
        assert tree(out) == expected, kills
    assert tree(out) == expected
    assert kills > resumed > 10


def test_finished_files_are_kept(inputs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    (tmp_path / "corpus" / "d.jsonl").write_text("not JSON\n")
    with pytest.raises(InputError, match=r"d\.jsonl:1: expected a JSON object"):
        prepare_in_thirds(inputs, out)
    before = {file: os.stat(file).st_ino for file in out.glob("*.gz")}
    assert len(before) == 4
    (tmp_path / "corpus" / "d.jsonl").write_text('{"text": "sex"}\n')
    (out / "train.0002.c.txt.gz").write_bytes(b"damaged")
    prepared = prepare_in_thirds(inputs, out)
    kept = [file.name for file in before if os.stat(file).st_ino == before[file]]
    assert sorted(kept) == ["heldout.0001.b.txt.gz", "train.0000.a.txt.gz"]
    size = (out / "train.0000.a.txt.gz").stat().st_size
    assert prepared[0].train == Written(sentences=2, words=4, bytes=size)
    assert text_of(out)[-1] == "sex"


@pytest.mark.slow
def test_a_text_without_a_record_stays_rejected(
    inputs: list[str], tmp_path: Path
) -> None:
    """Killed between a file of text and its record; then the input is damaged."""
    out = tmp_path / "out"
    for number in range(1, 100):
        killed_at_event(number, out, prepare_in_thirds, inputs[:1], out)
        if list(out.glob("train.*")):
            break
    assert not list(out.glob("_finished/*"))
    (tmp_path / "corpus" / "a.txt").write_text("\n")
    with pytest.raises(InputError, match="expected text, got none"):
        prepare_in_thirds(inputs[:1], out)
    if list(out.glob("train.*")):
        with pytest.raises(InputError, match="not complete"):
            expand_files(f"{out}/train.*")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"language": "la"}, "language was None, is 'la'"),
        ({"heldout": 5}, "heldout was 3, is 5"),
        ({"text_field": "body"}, "text_field was 'text', is 'body'"),
        ({"inputs": 1}, "files was .*, is "),
        ({"text": "other"}, r"a\.txt: the file has changed since an interrupted call"),
    ],
)
def test_another_call_does_not_resume(
    inputs: list[str], tmp_path: Path, change: dict, message: str
) -> None:
    out = tmp_path / "out"
    (tmp_path / "corpus" / "d.jsonl").write_text("not JSON\n")
    with pytest.raises(InputError):
        prepare_in_thirds(inputs, out)
    before = tree(out)
    if "text" in change:
        (tmp_path / "corpus" / "a.txt").write_text(change.pop("text"))
    chosen = inputs[change.pop("inputs", 0) :]
    with pytest.raises(InputError, match=message):
        prepare(chosen, out, **{"heldout": 3, **change})
    assert tree(out) == before


@pytest.mark.slow
def test_a_command_killed_in_its_workers_resumes(tmp_path: Path) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "out"
    corpus.mkdir()
    for number in range(4):
        text = "Una linea. Alia sententia est.\n" * 2000
        (corpus / f"{number}.txt").write_text(text)
    arguments = ["bilm", "prepare", str(corpus), "--language", "la"]
    elmo_tasks(*arguments, "--output", tmp_path / "whole")
    command = [sys.executable, "-m", "elmo_tasks", *arguments, "--output", str(out)]
    command += ["--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (out / "_finished").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (out / "_SUCCESS").exists()
    elmo_tasks(*arguments, "--output", out)
    assert tree(out) == tree(tmp_path / "whole")


@pytest.mark.slow
def test_a_killed_worker_ends_the_command(tmp_path: Path) -> None:
    """In one line, at any moment; the same command resumes."""
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
        while not list(out.glob(".train.*.tmp")):
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(int(children.read_text().split()[-1]), signal.SIGKILL)
        _, errors = process.communicate()
    assert process.returncode == 1
    assert "error: a worker process was killed" in errors.splitlines()[-1]
    assert "Traceback" not in errors
    elmo_tasks(*arguments, out)
    elmo_tasks(*arguments, tmp_path / "whole")
    assert tree(out) == tree(tmp_path / "whole")


def test_trainings_reject_a_text_that_is_not_complete(
    corpus: Path, tmp_path: Path
) -> None:
    lines = "\n".join(toy.sentences(50, seed=1))
    (tmp_path / "a.txt").write_text(lines)
    out = tmp_path / "text"
    prepare([str(tmp_path / "a.txt")], out, heldout=2)
    (out / "_SUCCESS").unlink()
    path = f"{out}/train.*"
    with pytest.raises(InputError, match="text: the text is not complete: .*resumes"):
        LmDataLoader(LmReader(), path, batch_size=2)
    with pytest.raises(InputError, match="the text is not complete"):
        LmVocabulary.from_corpus(files=path)
    for key in ("train_data_path", "validation_data_path", "vocabulary.files"):
        with pytest.raises(InputError, match=f"{key}.*expected a complete text"):
            toy.train(corpus, tmp_path / "run", **{key: path})
    assert not (tmp_path / "run").exists()
    (out / "_prepare.json").unlink()  # as in a folder that nobody prepared
    assert len(expand_files(path)) == 1


def test_the_settings_of_a_call(inputs: list[str], tmp_path: Path) -> None:
    prepare(inputs[:2], tmp_path / "out")
    settings = {
        "format": 1,
        "language": None,
        "rules": None,
        "paragraphs": None,
        "text_field": "text",
        "heldout": 100,
        "marks": None,
        "files": 2,
        "names_sha256": hashlib.sha256(b"a.txt\0b.txt").hexdigest(),
    }
    written = (tmp_path / "out/_prepare.json").read_text()
    assert written == json.dumps(settings, indent=1) + "\n"
    prepare(inputs[:1], tmp_path / "la", language="la", paragraphs="line", heldout=2)
    found = json.loads((tmp_path / "la/_prepare.json").read_text())
    assert (found["language"], found["paragraphs"]) == ("la", "line")
    assert found["rules"] == f"spaCy {version('spacy')}"


def test_settings_that_are_damaged(inputs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "_prepare.json").write_text("[]")
    problem = "format was None, is 1; text_field was None, is 'text'; .*use the same in"
    with pytest.raises(
        InputError, match=f"_prepare.json: .* with other settings: {problem}"
    ):
        prepare(inputs[:1], out)
    (out / "_prepare.json").write_text("{")
    with pytest.raises(InputError, match="_prepare.json:1: not JSON"):
        prepare(inputs[:1], out)


def test_one_block_in_a_hundred_is_held_out(tmp_path: Path) -> None:
    lines = [f"line {n}" for n in range(121 * BLOCK)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    prepare([str(tmp_path / "a.txt")], tmp_path / "out")
    expected = lines[BLOCK : 2 * BLOCK] + lines[101 * BLOCK : 102 * BLOCK]
    assert text_of(tmp_path / "out", "heldout") == expected
    assert BLOCK == 20


@pytest.mark.parametrize(("heldout", "count"), [(0, 0), (2, 3 * BLOCK), (3, 2 * BLOCK)])
def test_shares_that_are_held_out(
    heldout: int, count: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{n}\n" for n in range(6 * BLOCK)))
    prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=heldout)
    assert len(text_of(tmp_path / "out", "heldout")) == count
    assert caplog.messages == []
    (tmp_path / "b.txt").write_text("".join(f"{n}\n" for n in range(BLOCK)))
    prepare([str(tmp_path / "b.txt")], tmp_path / "short", heldout=heldout)
    assert len(caplog.messages) == (heldout > 0)
    if heldout:
        message = "short: nothing is held out, there are fewer than 21 paragraphs"
        assert caplog.messages[0].endswith(message)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"heldout": 1}, "heldout.* 0, or an integer of at least 2, got 1"),
        ({"heldout": -1}, "heldout.* got -1"),
        ({"workers": 0}, "workers.* got 0"),
        (
            {"paragraphs": "blank"},
            "paragraphs: .*add --language CODE; xx has rules for any",
        ),
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
    assert [one.documents for one in found] == [1, 1, 1, 2]
    assert [one.paragraphs for one in found] == [None] * 4
    for one, name in zip(found, inputs, strict=True):
        assert one.sha256 == hashlib.sha256(Path(name).read_bytes()).hexdigest()
    nothing = Written(sentences=0, words=0, bytes=0)
    assert Written() == nothing
    assert (found[0].heldout, found[1].train) == (nothing, nothing)
    counts = [(one.train[:2], one.heldout[:2]) for one in found]
    assert counts == [
        ((2, 4), (0, 0)),
        ((0, 0), (1, 2)),
        ((40, 80), (20, 40)),
        ((2, 3), (0, 0)),
    ]
    names = [path.name for path in sorted((tmp_path / "out").iterdir())]
    assert names == [
        "_SUCCESS",
        "_prepare.json",
        "heldout.0001.b.txt.gz",
        "heldout.0002.c.txt.gz",
        "train.0000.a.txt.gz",
        "train.0002.c.txt.gz",
        "train.0003.d.txt.gz",
    ]
    packed = (tmp_path / "out/train.0000.a.txt.gz").read_bytes()
    assert packed[3:8] == bytes(5)  # neither a name nor a time
    assert found[0].train.bytes == len(packed)
    with pytest.raises(FrozenInstanceError):
        found[0].file = "b.txt"  # type: ignore[misc]
    total = json.loads((tmp_path / "out/_SUCCESS").read_text())
    assert total == {
        "documents": 5,
        "train": {"sentences": 44, "words": 87},
        "heldout": {"sentences": 21, "words": 42},
    }


def interrupted(inputs: list[str], out: Path) -> None:
    """A call that has finished all but the last file."""
    last = Path(inputs[-1])
    text = last.read_text()
    last.write_text("not JSON\n")
    with pytest.raises(InputError):
        prepare_in_thirds(inputs, out)
    last.write_text(text)


def test_outputs_that_are_not_as_they_were_written(
    inputs: list[str], tmp_path: Path
) -> None:
    """One is missing, one should not be there, and one has another size."""
    prepare_in_thirds(inputs, tmp_path / "whole")
    out = tmp_path / "out"
    interrupted(inputs, out)
    (out / "train.0000.a.txt.gz").unlink()
    (out / "train.0001.b.txt.gz").write_bytes(b"x")
    (out / "heldout.0002.c.txt.gz").write_bytes(b"x")
    prepare_in_thirds(inputs, out)
    assert tree(out) == tree(tmp_path / "whole")


def test_records_that_are_damaged(inputs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    interrupted(inputs, out)
    (out / "_finished/0001.json").write_text("{")
    with pytest.raises(InputError, match="0001.json:1: not JSON"):
        prepare_in_thirds(inputs, out)


def test_folders_with_a_text(inputs: list[str], tmp_path: Path) -> None:
    """Of somebody else, or complete: then what is left of the call is removed."""
    problem = "files of a training text .name another, or remove it"
    for name in ("train.x", "heldout.x"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).touch()
        with pytest.raises(InputError, match=problem):
            prepare_in_thirds(inputs, folder)
        assert [path.name for path in folder.iterdir()] == [name]
    prepare_in_thirds(inputs, tmp_path / "out")
    (tmp_path / "out/_finished").mkdir()
    before = (tmp_path / "out/_SUCCESS").read_bytes()
    with pytest.raises(InputError, match=problem):
        prepare_in_thirds(inputs, tmp_path / "out")
    assert not (tmp_path / "out/_finished").exists()
    assert (tmp_path / "out/_SUCCESS").read_bytes() == before


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
    with pytest.raises(InputError, match="expected input outside the output folder"):
        prepare([], tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"text": 5}', "a.jsonl:2: expected 'text' to be a string, got 5"),
        ('{"text": null}', "a.jsonl:2: expected 'text' to be a string, got None"),
        ('{"body": "a"}', "a.jsonl:2: expected a JSON object with 'text'"),
        ("[]", "a.jsonl:2: expected a JSON object with 'text'"),
        ('"text"', "a.jsonl:2: expected a JSON object with 'text'"),
        ("x", "a.jsonl:2: expected a JSON object with 'text'"),
        ("[" * 100_000, "a.jsonl:2: expected a JSON object with 'text'"),
    ],
)
def test_lines_of_json(line: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f'{{"text": "b\\ud800c\\u0000\\nd"}}\n{line}\n')
    lines = read_lines(file, "text")
    assert [next(lines), next(lines)] == [Line(1, "bc"), Line(1, "d")]
    with pytest.raises(InputError) as caught:
        list(lines)
    assert problem in str(caught.value)


def test_documents_with_text_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = ["a\nb", "", " \n ", "c", "\nd\n\n"]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (found,) = prepare([str(file)], tmp_path / "out", heldout=0)
    assert found.documents == 3 and text_of(tmp_path / "out") == list("abcd")
    numbers = [line.document for line in read_lines(file, "text")]
    assert numbers == [1, 1, 2, 3, 3, 4, 5, 5, 5, 5]
    assert caplog.messages == []


def test_lines_that_are_no_text_are_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"Unus.\n\xff\nb\0\n\nDuo.\n")
    found = list(read_lines(file, "text"))
    assert found == [Line(0, "Unus."), Line(0, ""), Line(0, "Duo.")]
    assert caplog.messages == []
    prepare([str(file)], tmp_path / "out", language="la", heldout=0)
    (message,) = [one for one in caplog.messages if "no text" in one]
    assert message.startswith(
        f"{file}: skipped lines that are no text: 2, the first is {file}:2: expected"
    )


def test_raw_text_without_a_language_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.txt").write_text("She left.\n")
    prepare([str(tmp_path / "a.txt")], tmp_path / "out", heldout=0)
    (message,) = caplog.messages
    assert message.endswith("; --language splits raw text")
