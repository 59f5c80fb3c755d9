"""`--recover` at the start and the end of a run, and atomic files."""

import json
import os
import signal
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import train
from allennlp.common import Params
from allennlp.common import util as common_util
from allennlp.training import util as training_util

from elmo_tasks.compat.run_lock import LOCK
from elmo_tasks.errors import InputError
from tests.processes import DEAD

CONFIG = {"model": {"type": "m", "size": 3}, "trainer": {"num_epochs": 2}, "train_data_path": "a"}
CHANGED = {**CONFIG, "trainer": {"num_epochs": 5}}
HALF_CONFIG = f".config.json.{DEAD}.tmp"


class Killed(BaseException):
    """In the middle of a write."""


def start(folder: Path, config: dict[str, Any], *, recover: bool = False, force: bool = False) -> None:
    training_util.create_serialization_dir(Params(config), str(folder), recover=recover, force=force)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def with_config(folder: Path) -> Path:
    """A folder with the config of a run."""
    Params(CONFIG).to_file(str(folder / "config.json"))
    return folder


def test_run_that_was_killed_before_its_config_was_written(tmp_path: Path) -> None:
    (tmp_path / HALF_CONFIG).write_text("{")
    start(tmp_path, CONFIG, recover=True)
    assert names(tmp_path) == {LOCK}


def test_run_with_the_same_config_is_resumed(tmp_path: Path) -> None:
    half = with_config(tmp_path) / f".model_state_e1_b0.th.{DEAD}.tmp"
    kept = [".hidden", "notes.tmp", f".model_state_e1_b0.th.{os.getppid()}.tmp"]
    for file in (half, *(tmp_path / name for name in kept)):
        file.write_text("")
    start(tmp_path, CONFIG, recover=True)
    assert names(tmp_path) == {*kept, "config.json", LOCK}


def test_another_config_is_an_error_with_the_keys(tmp_path: Path) -> None:
    (with_config(tmp_path) / f".notes.{DEAD}.tmp").write_text("")
    before = names(tmp_path)
    changed = {**CHANGED, "model": {"type": "m", "sise": 3}}
    differing = "model.size: 3 -> nothing; trainer.num_epochs: 2 -> 5; model.sise: nothing -> 3"
    with pytest.raises(InputError, match=f"config.json: .*{differing}"):
        start(tmp_path, changed, recover=True)
    assert names(tmp_path) == before


def test_folder_with_a_run_is_kept(tmp_path: Path) -> None:
    start(tmp_path, CONFIG)
    with_config(tmp_path)
    with pytest.raises(InputError, match=r"expected an empty folder, got config.json \(--recover"):
        start(tmp_path, CONFIG)
    assert names(tmp_path) == {"config.json"}


def train_until_killed(run: Path, ready: Connection) -> None:
    """In another process, with a worker that outlives it; sends the worker's id when the run has started."""
    start(run, CONFIG)
    with_config(run)
    if worker := os.fork():
        ready.send(worker)
    signal.alarm(60)
    signal.pause()


def test_folder_in_which_another_process_trains(tmp_path: Path) -> None:
    run = tmp_path / "run"
    here, there = Pipe()
    other = get_context("fork").Process(target=train_until_killed, args=(run, there))
    other.start()
    worker, before = here.recv(), sorted(tmp_path.rglob("*"))
    for options in ({}, {"recover": True}, {"force": True}):
        with pytest.raises(InputError, match="run: another process is training in this folder"):
            start(run, CONFIG, **options)
    assert sorted(tmp_path.rglob("*")) == before
    other.kill()
    other.join()
    start(run, CONFIG, recover=True)
    os.kill(worker, signal.SIGKILL)
    start(run, CONFIG, force=True)
    assert names(run) == {LOCK}


def test_folder_in_which_checkpoints_would_not_be_found(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected the path of a folder without \*, \? and \["):
        start(tmp_path / "run[1]", CONFIG)
    assert names(tmp_path) == set()


def test_nodes_of_one_run_do_not_lock_each_other_out(tmp_path: Path) -> None:
    start(tmp_path, {"distributed": {"num_nodes": 2}})
    assert names(tmp_path) == set()


WRITERS = {
    "config.json": lambda file: Params(CHANGED).to_file(str(file)),
    "metrics.json": lambda file: common_util.dump_metrics(str(file), {"f1": 0.5}),
    "model.tar.gz": lambda file: train.archive_model(file.parent, include_in_archive=None),
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_are_written_atomically(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (with_config(tmp_path) / "best.th").touch()
    (tmp_path / "vocabulary").mkdir()
    (tmp_path / name).write_text(json.dumps(CONFIG))
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(Killed))
        WRITERS[name](tmp_path / name)
    assert json.loads((tmp_path / name).read_text()) == CONFIG
    assert not list(tmp_path.glob(".*"))
    WRITERS[name](tmp_path / name)
    assert (tmp_path / name).read_bytes() != json.dumps(CONFIG).encode()
