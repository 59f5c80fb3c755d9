"""
The data of a run are changed between a kill and `--recover`: the run ends as if it
had not been disturbed, or one error leaves its folder as it was.
"""

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.killing import FORWARD, SMALL_NER, Place, Training, differences
from tests.tiny import contents, write_data_root

NER = SMALL_NER | {
    "trainer.num_epochs": 2,
    "trainer.checkpointer.save_every_num_batches": 1,
}


class Killed(NamedTuple):
    """A run that was killed after some checkpoints, and one that was not disturbed."""

    training: Training
    folder: Path
    whole: Path

    @property
    def root(self) -> Path:
        return self.training.root


@pytest.fixture(scope="module")
def ner(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    folder = tmp_path_factory.mktemp("ner")
    training = Training("ner_elmo", write_data_root(folder / "data"), NER)
    whole, killed = folder / "whole", folder / "killed"
    assert training.run(whole) == 0, (folder / "whole.log").read_text()[-2000:]
    assert training.run(killed, killed_at=Place(FORWARD, 4)) != 0
    assert list(killed.glob("model_state_*"))
    return Killed(training, killed, whole)


def exchange_a_byte(file: Path) -> None:
    """With the same size and date as before."""
    status = file.stat()
    text = bytearray(file.read_bytes())
    text[len(text) // 2] ^= 1
    file.write_bytes(text)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def touch(file: Path) -> None:
    os.utime(file, (1, 1))


Change = Callable[[Path], None]


def add_a_word(file: Path) -> None:
    """To vectors; the weights have no row for it."""
    vector = b"unheard" + b" 0.5" * 100 + b"\n"
    file.write_bytes(file.read_bytes() + gzip.compress(vector))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("ner/eng.train", exchange_a_byte),
        ("ner/eng.train", touch),
        ("vectors/w2v.100d.txt.gz", add_a_word),
    ],
)
def test_changed_data(name: str, change: Change, ner: Killed, tmp_path: Path) -> None:
    """
    With the same contents, the run equals the undisturbed one; with others, its folder
    is as it was. What else is a change: test_recorded_inputs.py.
    """
    folder = tmp_path / "run"
    shutil.copytree(ner.folder, folder)
    before = contents(folder)
    file = ner.root / name
    known = file.read_bytes()
    try:
        change(file)
        code = ner.training.run(folder)
    finally:
        file.write_bytes(known)
    if change is touch:
        assert code == 0, (tmp_path / "run.log").read_text()[-2000:]
        assert differences(folder, ner.whole) == []
        return
    assert code != 0
    lines = (tmp_path / "run.log").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("error: ")]
    assert "other data than the run began with: " in line and f"{file.name} (" in line
    assert "Traceback (most recent call last):" not in lines
    assert contents(folder) == before


def test_a_vocabulary_of_the_same_size(ner: Killed, tmp_path: Path) -> None:
    folder = shutil.copytree(ner.folder, tmp_path / "run")
    labels = folder / "vocabulary" / "labels.txt"
    labels.write_text("\n".join(reversed(labels.read_text().splitlines())))
    assert ner.training.run(folder) != 0
    log = (tmp_path / "run.log").read_text()
    assert "expected the vocabulary that the run began with, got another" in log


@pytest.mark.parametrize(
    "name", ["vocabulary/non_padded_namespaces.txt", "inputs.json"]
)
def test_a_file_of_the_run_is_missing(name: str, ner: Killed, tmp_path: Path) -> None:
    folder = shutil.copytree(ner.folder, tmp_path / "run")
    (folder / name).unlink()
    assert ner.training.run(folder) != 0
    lines = (tmp_path / "run.log").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("error: ")]
    assert str((folder / name).parent) in line
