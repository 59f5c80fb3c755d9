"""
Commands whose standard streams are closed, whose reader has ended, or whose encoding
lacks characters: each works, or ends with one line.
"""

import io
import json
import os
import sys
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_tasks.cli.main import main
from elmo_tasks.cli.streams import escape_other_characters
from tests.archives.make import STORED
from tests.forks import fork, status_of
from tests.system import require_path
from tests.test_flow import SMALLER
from tests.tiny import FIXTURES

pytestmark = pytest.mark.slow

NER = STORED / "1" / "ner.tar.gz"
BROKEN_PIPE = 128 + 13
ENCODINGS = ("ascii", "latin-1", "cp1251", "utf-8")


class Ended(NamedTuple):
    status: int
    out: str
    err: str


def run_with(streams: dict[int, str], *arguments: object) -> Ended:
    """
    A command in a fork, with streams that are `closed` or `broken` pipes; the others
    are files, of UTF-8 or another encoding.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("stdin", "stdout", "stderr")]
        for file in files:
            file.touch()

        def act() -> None:
            for number, file in enumerate(files):
                _set_stream(number, file, streams.get(number, "a file"))
            _run([str(argument) for argument in arguments])

        status = status_of(fork(act))
        shown = [file.read_text("utf-8", "replace") for file in files]
        return Ended(status, shown[1], shown[2])


def _set_stream(number: int, file: Path, kind: str) -> None:
    """Gives a process a standard stream, as Python would have it from its start."""
    stream = None
    encoding = kind if kind in ENCODINGS else "utf-8"
    if kind == "closed":
        os.close(number)
    else:
        reading, descriptor = os.pipe()
        os.close(reading)
        if kind != "broken":
            if kind == "full":
                file = Path("/dev/full")
            descriptor = os.open(file, os.O_RDWR)
        os.dup2(descriptor, number)
        mode = ("r", "w", "w")[number]
        stream = os.fdopen(number, mode, encoding=encoding, closefd=False)
    name = ("stdin", "stdout", "stderr")[number]
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


def _run(arguments: list[str]) -> None:
    """What Python does with the function of a console script, up to its end."""
    try:
        main(arguments)
    except SystemExit as end:
        if isinstance(end.code, str) and sys.stderr is not None:
            sys.stderr.write(f"{end.code}\n")
        if not isinstance(end.code, int):
            raise SystemExit(1) from None
        raise
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()


ALL = {0: "closed", 1: "closed", 2: "closed"}
STREAMS: dict[str, dict[int, str]] = {
    "stdin closed": {0: "closed"},
    "stdout closed": {1: "closed"},
    "stderr closed": {2: "closed"},
    "all closed": ALL,
    "stdout broken": {1: "broken"},
    "stderr broken": {2: "broken"},
    "both broken": {1: "broken", 2: "broken"},
}


class Command(NamedTuple):
    """
    The arguments, where OUT is an output and IN a text, and whether the result is a
    file.
    """

    arguments: str
    to_file: bool = False
    status: int = 0
    is_quick: bool = False


COMMANDS = {
    "models": Command("models", is_quick=True),
    "info": Command("info", is_quick=True),
    "data": Command("data", status=1),  # corpora are missing
    "check": Command("check ner"),
    "evaluate": Command(f"evaluate {NER} {FIXTURES}/ner/eng.bio"),
    "predict": Command(f"predict {NER} JSON"),
    "predict to a file": Command(f"predict {NER} JSON --output-file OUT --silent"),
    "elmo": Command("elmo IN OUT", to_file=True),
    "static": Command("static IN --output OUT --min-count 1", to_file=True),
    "prepare": Command("bilm prepare IN --output OUT", to_file=True),
    "help": Command("--help", is_quick=True),
    "help of a command": Command("elmo --help", is_quick=True),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name: str, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("She heard the play .\n")
    (tmp_path / "in.jsonl").write_text('{"sentence": "Mira left ."}\n')
    command = COMMANDS[name]
    kinds = ["all closed", "both broken"]
    if command.is_quick:
        kinds = list(STREAMS)
    for number, kind in enumerate(kinds):
        streams = STREAMS[kind]
        out = tmp_path / f"out{number}.txt"
        given = {"IN": tmp_path / "in.txt", "JSON": tmp_path / "in.jsonl", "OUT": out}
        words = [given.get(word, word) for word in command.arguments.split()]
        ended = run_with(streams, *words)
        shown = f"{kind}: {ended}"
        assert "Traceback" not in ended.err and "Logging error" not in ended.err, shown
        allowed = [command.status]
        if streams.get(1) == "broken" and not command.to_file:
            allowed.append(BROKEN_PIPE)
        assert ended.status in allowed, shown
        assert out.exists() == ("OUT" in words or out in words), shown


CLOSED_INPUT: dict[str, tuple[str, str]] = {
    "predict": (f"predict {NER} -", "expected lines on the standard input, but it"),
    "elmo": ("elmo - OUT", "expected at least one sentence, got none"),
}


@pytest.mark.parametrize("name", CLOSED_INPUT)
def test_closed_input_that_is_read(name: str, tmp_path: Path) -> None:
    arguments, message = CLOSED_INPUT[name]
    words = arguments.replace("OUT", str(tmp_path / "out")).split()
    ended = run_with({0: "closed"}, *words)
    assert ended.status == 1 and ended.err.count("error: ") == 1, ended
    assert message in ended.err and "Traceback" not in ended.err, ended
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("streams", ["all closed", "stdout broken"])
def test_training(streams: str, root: Path, tmp_path: Path) -> None:
    config = root / "training_config" / "ner_elmo.jsonnet"
    changes = json.dumps(SMALLER | {"trainer.num_epochs": 1})
    ended = run_with(STREAMS[streams], "train", config, "-s", tmp_path, "-o", changes)
    assert ended.status == 0 and (tmp_path / "model.tar.gz").is_file(), ended
    assert "epoch 1 of 1" in (tmp_path / "out.log").read_text()
    assert "error" not in ended.err.lower() + ended.out, ended


@pytest.mark.parametrize("arguments", ["models", "--help", "elmo --help"])
def test_a_full_disk_behind_stdout(arguments: str) -> None:
    require_path("/dev/full")
    ended = run_with({1: "full"}, *arguments.split())
    assert (ended.status, ended.err) == (
        1,
        "error: writing failed: No space left on device\n",
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_characters_that_stdout_lacks(encoding: str, tmp_path: Path) -> None:
    """The list of models has Bokmål, and names of files have any character."""
    assert run_with({1: encoding}, "models").status == 0
    (tmp_path / "in.txt").write_text("She heard the play .\n")
    for name in ("bokmål.hdf5", "ж.hdf5", "文.hdf5", os.fsdecode(b"\xe5.hdf5")):
        ended = run_with({1: encoding}, "elmo", tmp_path / "in.txt", tmp_path / name)
        assert ended.status == 0, ended
        assert ".hdf5: " in ended.out


@given(text=st.text(), encoding=st.sampled_from(ENCODINGS))
@example(text="\udce5", encoding="utf-8")
def test_what_the_encoding_has_is_shown_as_it_is(text: str, encoding: str) -> None:
    content = io.BytesIO()
    stream = io.TextIOWrapper(content, encoding=encoding, newline="")
    with redirect_stdout(stream):
        escape_other_characters()
        sys.stdout.write(text)
        sys.stdout.flush()
    assert content.getvalue() == text.encode(encoding, "backslashreplace")
