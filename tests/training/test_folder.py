"""
Who may train in a folder, and what `--recover` does there.
"""

import json
import os
import signal
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params

from elmo_tasks.errors import InputError
from elmo_tasks.system.files import LOCK, exclusive
from elmo_tasks.system.run_names import INPUTS
from elmo_tasks.training.folder import prepare, require_plain_name
from tests.forks import killed_while_writing

CONFIG = {
    "model": {"type": "m", "size": 3},
    "trainer": {"num_epochs": 2},
    "train_data_path": "a",
}
CHANGED = {**CONFIG, "trainer": {"num_epochs": 5}}


def start(
    folder: Path,
    config: dict[str, Any] = CONFIG,
    *,
    recover: bool = False,
) -> None:
    with exclusive(folder):
        prepare(folder, Params(dict(config)), recover=recover)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {LOCK, INPUTS}


def stored(folder: Path) -> Any:
    return json.loads((folder / "config.json").read_text())


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """The folder of a run with a checkpoint, and a file of the user."""
    start(tmp_path / "run")
    for name in (
        "out.log",
        "model_state_e1_b0.th",
        "training_state_e1_b0.th",
        "best.th",
        "metrics_epoch_0.json",
    ):
        (tmp_path / "run" / name).touch()
    (tmp_path / "run" / "vocabulary").mkdir()
    (tmp_path / "run" / "notes.txt").touch()
    return tmp_path / "run"


@pytest.mark.parametrize("recover", [True, False])
def test_run_that_was_killed_while_its_config_was_written(
    recover: bool, tmp_path: Path
) -> None:
    killed_while_writing(tmp_path / "config.json")
    start(tmp_path, recover=recover)
    assert (
        names(tmp_path) == {"config.json", "meta.json"} and stored(tmp_path) == CONFIG
    )


@pytest.mark.parametrize("text", ["{", "[]"])
def test_config_that_is_no_object(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(InputError, match="config.json:.* expected .*, got"):
        start(tmp_path, recover=True)
    assert (tmp_path / "config.json").read_text() == text


def test_same_config_is_resumed(begun: Path) -> None:
    before = names(begun)
    for name in (".hidden", "notes.tmp"):
        (begun / name).touch()
    killed_while_writing(begun / "model_state_e1_b0.th")
    start(begun, recover=True)
    assert names(begun) == before | {".hidden", "notes.tmp"}


def test_another_config_is_an_error_with_the_keys(begun: Path) -> None:
    before = names(begun)
    changed = {**CHANGED, "model": {"type": "m", "sise": 3}}
    differing = (
        "model.size: 3 -> nothing; trainer.num_epochs: 2 -> 5; model.sise: nothing -> 3"
    )
    with pytest.raises(InputError, match=f"config.json: .*{differing}"):
        start(begun, changed, recover=True)
    assert names(begun) == before and stored(begun) == CONFIG


def test_run_with_a_checkpoint_is_kept(begun: Path) -> None:
    before = names(begun)
    with pytest.raises(
        InputError,
        match=r"got best.th, .*, training_state_e1_b0.th, vocabulary \(--recover resumes",
    ):
        start(begun, CHANGED)
    assert names(begun) == before


def test_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match=r"expected an empty folder, got thesis.tex"):
        start(tmp_path)
    (tmp_path / "model_state_e1_b0.th").touch()
    with pytest.raises(
        InputError,
        match=r"expected a run with config.json, got model_state_e1_b0.th, thesis.tex",
    ):
        start(tmp_path, recover=True)
    assert names(tmp_path) == {"thesis.tex", "model_state_e1_b0.th"}


def train_until_killed(run: Path, ready: Connection) -> None:
    """
    In another process, with a worker that outlives it; sends the worker's id when the
    run has started.
    """
    with exclusive(run):
        prepare(run, Params(dict(CONFIG)), recover=False)
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
    for options in ({}, {"recover": True}):
        with pytest.raises(
            InputError, match="run: expected a folder that no other process writes to"
        ):
            start(run, **options)
    assert sorted(tmp_path.rglob("*")) == before
    other.kill()
    other.join()
    start(run, recover=True)
    os.kill(worker, signal.SIGKILL)


def test_folder_in_which_checkpoints_would_not_be_found(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"expected the path of a folder without \*, \?, \["
    ):
        require_plain_name(tmp_path / "run[1]")
