"""
A file that a run reads is changed between a kill and `--recover`: the run ends as if it
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
from tests.pretraining import toy
from tests.tiny import write_data_root

FORWARD = "elmo_tasks.training.trainer:ResumableTrainer.batch_outputs"
ALLOWED = "--allow-changed-files"
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


def append(file: Path) -> None:
    file.write_bytes(file.read_bytes() + parts(file)[-1])


def leave_one_out(file: Path) -> None:
    file.write_bytes(b"".join(parts(file)[1:]))


def change_a_byte(file: Path) -> None:
    text = bytearray(file.read_bytes())
    text[len(text) // 2] ^= 1
    file.write_bytes(text)


def exchange_bytes(file: Path) -> None:
    """With the same size and date as before."""
    status = file.stat()
    change_a_byte(file)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def swap(file: Path) -> None:
    """With another file of its folder, if there is one with other contents."""
    for other in sorted(file.parent.iterdir()):
        if other.is_file() and other.read_bytes() != file.read_bytes():
            aside = file.with_name("aside")
            other.rename(aside)
            file.rename(other)
            aside.rename(file)
            return


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
CHANGES: list[Change] = [
    *(reorder, append, leave_one_out, change_a_byte, exchange_bytes, swap, remove),
    *(touch, copy),
]


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
    assert [line for line in lines if line.startswith("error: ")], lines[-20:]
    assert "Traceback (most recent call last):" not in lines
    assert contents(folder) == before


@pytest.mark.parametrize("change", CHANGES)
def test_changed_training_data(change: Change, ner: Killed, tmp_path: Path) -> None:
    recover_after(ner, ner.root / "ner" / "eng.train", change, tmp_path)


@pytest.mark.parametrize(
    "name", ["ner/eng.testa", "vectors/w2v.100d.txt.gz", "bilm/weights.hdf5"]
)
def test_another_changed_file(name: str, ner: Killed, tmp_path: Path) -> None:
    recover_after(ner, ner.root / name, exchange_bytes, tmp_path)


def test_the_error_names_what_has_changed_and_how_to_go_on(
    ner: Killed, tmp_path: Path
) -> None:
    recover_after(ner, ner.root / "ner" / "eng.train", reorder, tmp_path)
    lines = (tmp_path / "run.log").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("error: ")]
    assert "ner/eng.train has changed since this run began (" in line
    assert ALLOWED in line and "eng.testa" not in line


def test_going_on_with_changed_data_keeps_the_words_of_the_run(
    ner: Killed, tmp_path: Path
) -> None:
    """The vocabulary belongs to the weights: it is read, never made again."""
    folder = shutil.copytree(ner.folder, tmp_path / "run")
    file = ner.root / "ner" / "eng.train"
    known = file.read_bytes()
    before = contents(folder / "vocabulary")
    try:
        reorder(file)
        code = ner.training.run(folder, flags=(ALLOWED,))
    finally:
        file.write_bytes(known)
    log = (tmp_path / "run.log").read_text()
    assert code == 0, log[-2000:]
    assert contents(folder / "vocabulary") == before
    assert "ner/eng.train has changed since this run began" in log


def test_words_that_changed_vectors_bring_along(ner: Killed, tmp_path: Path) -> None:
    """The weights have no rows for them; the vocabulary stays as it was."""
    folder = shutil.copytree(ner.folder, tmp_path / "run")
    file = ner.root / "vectors" / "w2v.100d.txt.gz"
    known = file.read_bytes()
    before = contents(folder / "vocabulary")
    try:
        file.write_bytes(known + gzip.compress(b"unheard" + b" 0.5" * 100 + b"\n"))
        code = ner.training.run(folder, flags=(ALLOWED,))
    finally:
        file.write_bytes(known)
    log = (tmp_path / "run.log").read_text()
    assert code != 0
    assert "expected the words that this run began with, got more" in log
    assert contents(folder / "vocabulary") == before


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("vocabulary/tokens.txt", ()),
        ("vocabulary/labels.txt", (ALLOWED,)),
        ("inputs.json", ()),
    ],
)
def test_a_file_of_the_run_is_missing(
    name: str, flags: tuple[str, ...], ner: Killed, tmp_path: Path
) -> None:
    """The error names it; a copy without hidden files gets no lock."""
    hidden = shutil.ignore_patterns(".*")
    folder = shutil.copytree(ner.folder, tmp_path / "run", ignore=hidden)
    (folder / name).unlink()
    before = contents(folder)
    assert ner.training.run(folder, flags=flags) != 0
    lines = (tmp_path / "run.log").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith("error: ")]
    assert f"{folder / name}: expected the " in line
    assert contents(folder) == before


def test_the_option_without_recover(ner: Killed, tmp_path: Path) -> None:
    code = ner.training.run(tmp_path / "run", flags=(ALLOWED,))
    assert code != 0
    assert f"{ALLOWED}: expected --recover" in (tmp_path / "run.log").read_text()
    assert not (tmp_path / "run").exists()


OVERRIDES: dict[str, dict[str, Any]] = {
    "ner_elmo": NER,
    "tagger": NER,
    "snli_elmo": {
        "model.encoder.hidden_sizes": [4],
        "model.composition.hidden_sizes": [4],
        "model.hidden_size": 4,
    },
    "sst_elmo": {"model.encoder.hidden_sizes": [4]},
    "srl_elmo": {"model.encoder.hidden_size": 4},
    "squad_elmo": {},
    "coref_elmo": {},
    "bilm": toy.overrides(**{"trainer.num_epochs": 2}),
}
EVERY_STEP = {"trainer.num_epochs": 3, "trainer.checkpointer.save_every_num_batches": 1}


@pytest.fixture(scope="module", params=list(OVERRIDES))
def any_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Killed:
    config = request.param
    overrides = EVERY_STEP | OVERRIDES[config]
    folder = tmp_path_factory.mktemp(config)
    return killed_run(folder, config, overrides, call=7 if config == "bilm" else 4)


@pytest.mark.slow
def test_any_change_of_any_file(any_run: Killed, tmp_path: Path) -> None:
    """Of each file below the data root that the training opens, some of the changes."""
    names = any_run.training.reads(tmp_path / "fresh")
    assert names
    for number, name in enumerate(names):
        for change in CHANGES[number % 3 :: 3]:
            out = tmp_path / f"{number}-{change.__name__}"
            out.mkdir()
            recover_after(any_run, any_run.root / name, change, out)
