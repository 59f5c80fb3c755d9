"""
Commands that are stopped while they write: a signal leaves nothing, and a kill no
output, so that the same command can be repeated.
"""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.cli.main import main
from tests.archives.make import STORED
from tests.forks import fork, status_of, temporary
from tests.test_flow import SMALLER
from tests.tiny import FIXTURES

pytestmark = pytest.mark.slow

NER = STORED / "1" / "ner.tar.gz"
COMMANDS = {
    "elmo": "elmo IN OUT",
    "static": "static IN --output OUT --min-count 1",
    "prepare": "bilm prepare IN --output OUT",
    "predict": f"predict {NER} JSON --output-file OUT",
    "evaluate": f"evaluate {NER} {FIXTURES}/ner/eng.bio --output-file OUT",
}
ENDING = (signal.SIGTERM, signal.SIGHUP)


def stopped_by(
    number: int, arguments: list[str], *, writes: int = 1, folder: Path | None = None
) -> int:
    """
    The exit status of a command that gets a signal when it has written a temporary file
    for the n-th time; with `folder`, one in this folder.
    """

    def act() -> None:
        flush, calls = os.fsync, 0

        def stop(descriptor: Any) -> None:
            nonlocal calls
            if folder is None or temporary(folder):
                calls += 1
            if calls == writes:
                os.kill(os.getpid(), number)
            flush(descriptor)

        os.fsync = stop
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        main(arguments)

    return status_of(fork(act))


@pytest.fixture
def words(tmp_path: Path) -> Callable[[str], list[str]]:
    (tmp_path / "in.txt").write_text("She heard the play .\nIt ended .\n")
    (tmp_path / "in.jsonl").write_text('{"sentence": "Mira left ."}\n')
    (tmp_path / "results").mkdir()
    given = {"IN": "in.txt", "JSON": "in.jsonl", "OUT": "results/out.txt"}

    def split(command: str) -> list[str]:
        found = []
        for word in command.split():
            if word in given:
                word = str(tmp_path / given[word])
            found.append(word)
        return found

    return split


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name: str, words: Callable[[str], list[str]], tmp_path: Path) -> None:
    arguments = words(COMMANDS[name])
    for number in ENDING:
        assert stopped_by(number, arguments, writes=1) == 128 + number
        assert temporary(tmp_path) == []
    assert stopped_by(signal.SIGKILL, arguments, writes=1) == -signal.SIGKILL
    assert len(temporary(tmp_path)) > 0
    left = temporary(tmp_path)
    assert list((tmp_path / "results").glob("[!.]*")) == []
    assert status_of(fork(lambda: main(arguments))) == 0
    assert temporary(tmp_path) == left
    assert list((tmp_path / "results").glob("[!.]*"))


def test_training(root: Path, tmp_path: Path) -> None:
    config = str(root / "training_config" / "ner_elmo.jsonnet")
    changes = json.dumps(SMALLER | {"trainer.num_epochs": 1})
    arguments = ["train", config, "-s", str(tmp_path), "-o", changes]
    assert stopped_by(signal.SIGHUP, arguments, folder=tmp_path) == 128 + signal.SIGHUP
    assert temporary(tmp_path) == []
    resumed = [*arguments, "--recover"]
    assert stopped_by(signal.SIGKILL, resumed, folder=tmp_path) == -signal.SIGKILL
    assert len(temporary(tmp_path)) == 1
    assert status_of(fork(lambda: main(resumed))) == 0
    assert temporary(tmp_path) == []


def test_nohup(words: Callable[[str], list[str]], tmp_path: Path) -> None:
    """SIGHUP stays ignored where it is."""

    def act() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        flush = os.fsync

        def hang_up(descriptor: Any) -> None:
            os.kill(os.getpid(), signal.SIGHUP)
            flush(descriptor)

        os.fsync = hang_up
        main(words(COMMANDS["elmo"]))

    assert status_of(fork(act)) == 0 and temporary(tmp_path) == []
