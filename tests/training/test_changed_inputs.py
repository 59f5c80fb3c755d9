"""
The data of a run are changed between a kill and `--recover`: the run ends as if it
had not been disturbed, or one error leaves its folder as it was.
"""

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.killing import Place, Training, differences
from tests.tiny import write_data_root

FORWARD = "elmo_tasks.training.trainer:ResumableTrainer.batch_outputs"
CHARACTERS = (
    "model.text_field_embedder.token_embedders.token_characters.encoder.num_filters"
)
NER = {
    "model.encoder.hidden_sizes": [5, 4],
    CHARACTERS: 3,
    "data_loader.batch_sampler.batch_size": 1,
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


def killed_run(
    folder: Path, config: str, overrides: dict[str, Any], *, call: int = 4
) -> Killed:
    training = Training(config, write_data_root(folder / "data"), overrides)
    whole, killed = folder / "whole", folder / "killed"
    assert training.run(whole) == 0, (folder / "whole.log").read_text()[-2000:]
    assert training.run(killed, killed_at=Place(FORWARD, call)) != 0
    assert list(killed.glob("model_state_*"))
    return Killed(training, killed, whole)


@pytest.fixture(scope="module")
def ner(tmp_path_factory: pytest.TempPathFactory) -> Killed:
    return killed_run(tmp_path_factory.mktemp("ner"), "ner_elmo", NER)


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of each file of a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def parts(file: Path) -> list[bytes]:
    """The blocks between blank lines of a file, or its lines if it is one block."""
    text = file.read_bytes()
    blocks = text.strip(b"\n").split(b"\n\n")
    if len(blocks) > 1:
        return [block + b"\n\n" for block in blocks]
    return text.splitlines(keepends=True)


def reorder(file: Path) -> None:
    file.write_bytes(b"".join(reversed(parts(file))))


def change_a_byte(file: Path) -> None:
    text = bytearray(file.read_bytes())
    text[len(text) // 2] ^= 1
    file.write_bytes(text)


def exchange_bytes(file: Path) -> None:
    """With the same size and date as before."""
    status = file.stat()
    change_a_byte(file)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def touch(file: Path) -> None:
    os.utime(file, (1, 1))


def copy(file: Path) -> None:
    """Another file with the same contents."""
    aside = file.with_name("aside")
    shutil.copyfile(file, aside)
    aside.replace(file)


def remove(file: Path) -> None:
    file.unlink()


Change = Callable[[Path], None]
CHANGES: list[Change] = [reorder, exchange_bytes, remove, touch, copy]


def recover_after(killed: Killed, file: Path, change: Change, out: Path) -> None:
    """
    Resumes a copy of the killed run after a change of a file, which is undone. Checks
    that it equals the undisturbed run or, with other contents, is as it was.
    """
    folder = out / "run"
    shutil.copytree(killed.folder, folder)
    before = contents(folder)
    keep = shutil.copytree(file.parent, out / "keep", symlinks=True)
    known = file.read_bytes()
    try:
        change(file)
        is_same = file.is_file() and file.read_bytes() == known
        code = killed.training.run(folder)
    finally:
        shutil.rmtree(file.parent)
        shutil.copytree(keep, file.parent, symlinks=True)
    if is_same:
        assert code == 0, (out / "run.log").read_text()[-2000:]
        assert differences(folder, killed.whole) == []
        return
    assert code != 0
    lines = (out / "run.log").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("error: ")]
    assert "other data than the run began with: " in line and f"{file.name} (" in line
    assert "Traceback (most recent call last):" not in lines
    assert contents(folder) == before


@pytest.mark.parametrize("change", CHANGES)
def test_changed_training_data(change: Change, ner: Killed, tmp_path: Path) -> None:
    recover_after(ner, ner.root / "ner" / "eng.train", change, tmp_path)


def test_words_that_changed_vectors_bring_along(ner: Killed, tmp_path: Path) -> None:
    """The weights have no rows for them; the vocabulary stays as it was."""
    folder = shutil.copytree(ner.folder, tmp_path / "run")
    file = ner.root / "vectors" / "w2v.100d.txt.gz"
    known = file.read_bytes()
    before = contents(folder / "vocabulary")
    try:
        file.write_bytes(known + gzip.compress(b"unheard" + b" 0.5" * 100 + b"\n"))
        code = ner.training.run(folder)
    finally:
        file.write_bytes(known)
    log = (tmp_path / "run.log").read_text()
    assert code != 0
    assert "expected the words that this run began with, got more" in log
    assert contents(folder / "vocabulary") == before


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
