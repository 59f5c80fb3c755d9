"""`--recover` at the start and the end of a run, and atomic files."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, TextIO

import pytest
import torch
from allennlp.commands import train
from allennlp.common import Params
from allennlp.common import util as common_util
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.training import util as training_util

from elmo_tasks.compat import first_step, recovery
from elmo_tasks.compat.first_step import MARK
from elmo_tasks.compat.run_lock import LOCK
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.data_loader import LmVocabulary
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from tests.processes import DEAD

CONFIG = {"model": {"type": "m", "size": 3}, "trainer": {"num_epochs": 2}, "train_data_path": "a"}
CHANGED = {**CONFIG, "trainer": {"num_epochs": 5}}
TOKENS = Vocabulary({"tokens": {"a": 1}})
WORDS = LmVocabulary.of(WordVocabulary(["<S>", "</S>", "<UNK>"]))


class Killed(BaseException):
    """In the middle of a write."""


def start(folder: Path, config: dict[str, Any], *, recover: bool = False) -> None:
    training_util.create_serialization_dir(Params(config), str(folder), recover=recover, force=False)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def with_config(folder: Path) -> Path:
    """A folder with the config of a run."""
    folder.mkdir(exist_ok=True)
    Params(CONFIG).to_file(str(folder / "config.json"))
    return folder


def failed_before_a_step(folder: Path, vocabulary: Vocabulary = TOKENS) -> Path:
    """A run that wrote everything that precedes the first step, and whose process has ended."""
    start(folder, CONFIG)
    vocabulary.save_to_files(str(folder / "vocabulary"))
    (folder / "log" / "train").mkdir(parents=True)
    files = f"config.json meta.json out.log .config.json.{DEAD}.tmp log/train/events.out.tfevents.1.host"
    for name in files.split():
        (folder / name).write_text("{}")
    recovery.end_run()
    return folder


@pytest.mark.parametrize("left", [[], [f".config.json.{DEAD}.tmp"]])
def test_run_that_was_killed_before_its_config_was_written(tmp_path: Path, left: list[str]) -> None:
    for name in left:
        (tmp_path / name).write_text("{")
    start(tmp_path, CONFIG, recover=True)
    assert names(tmp_path) == {MARK, LOCK}


def test_run_with_the_same_config_is_resumed(tmp_path: Path) -> None:
    half = with_config(tmp_path) / f".model_state_e1_b0.th.{DEAD}.tmp"
    kept = [".hidden", "notes.tmp", f".model_state_e1_b0.th.{os.getppid()}.tmp"]
    for file in (half, *(tmp_path / name for name in kept)):
        file.write_text("")
    start(tmp_path, CONFIG, recover=True)
    assert names(tmp_path) == {*kept, "config.json", LOCK}


@pytest.mark.parametrize("config", [None, {"model": "another"}])
def test_temporary_files_of_other_runs_are_kept(tmp_path: Path, config: object) -> None:
    (tmp_path / f".notes.{DEAD}.tmp").write_text("")
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
    before = names(tmp_path)
    with pytest.raises((ConfigurationError, InputError)):
        start(tmp_path, CONFIG, recover=True)
    assert names(tmp_path) == before


def test_another_config_is_an_error_with_the_keys(tmp_path: Path) -> None:
    changed = {**CHANGED, "model": {"type": "m", "sise": 3}, **dict.fromkeys("vwxyz", 1)}
    with pytest.raises(InputError) as error:
        start(with_config(tmp_path), changed, recover=True)
    differing = "model.sise was absent, is 3; model.size was 3, is absent; trainer.num_epochs was 2, is 5; "
    assert f"{tmp_path}/config.json: " in str(error.value) and differing in str(error.value)
    assert "; and 3 more (" in str(error.value)


@pytest.mark.parametrize("recover", [False, True])
@pytest.mark.parametrize(("config", "vocabulary"), [(CONFIG, TOKENS), (CHANGED, WORDS)])
def test_folder_in_which_no_step_was_taken_is_reused(
    tmp_path: Path, config: dict[str, Any], vocabulary: Vocabulary, recover: bool
) -> None:
    start(failed_before_a_step(tmp_path / "run", vocabulary), config, recover=recover)
    assert names(tmp_path / "run") == {MARK, LOCK}


@pytest.mark.parametrize(
    "name",
    ["model_state_e1_b0.th", "model.tar.gz", "notes.md", "vocabulary/notes.txt", "log/a.txt", f".notes.{DEAD}.tmp"],
)
def test_folder_with_other_files_is_kept(tmp_path: Path, name: str) -> None:
    run = failed_before_a_step(tmp_path / "run")
    (run / name).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    message = rf"expected an empty folder, got {name.partition('/')[0]} \(--recover resumes .* --force deletes"
    with pytest.raises(InputError, match=message):
        start(run, CONFIG)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["vocabulary", "log"])
def test_links_and_files_in_place_of_folders_are_kept(tmp_path: Path, name: str) -> None:
    run = failed_before_a_step(tmp_path / "run")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("")
    for replace in (lambda: (run / name).symlink_to(tmp_path / "mine"), lambda: (run / name).write_text("mine")):
        shutil.rmtree(run / name) if not (run / name).is_symlink() else (run / name).unlink()
        replace()
        with pytest.raises(InputError, match="expected an empty folder"):
            start(run, CONFIG)
        assert (tmp_path / "mine" / "a.txt").is_file() and (run / name).exists()


def test_first_step_removes_the_mark(tmp_path: Path) -> None:
    start(tmp_path, CONFIG)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1).step()
    assert names(tmp_path) == {"config.json", LOCK}
    with pytest.raises(InputError, match=r"expected an empty folder, got config.json \("):
        start(tmp_path, CONFIG)


def test_dry_run_is_complete_and_a_failed_run_is_not(tmp_path: Path) -> None:
    recovery.marking(start)(tmp_path / "dry", CONFIG)
    assert list((tmp_path / "dry").iterdir()) == []

    def fail(folder: Path) -> None:
        start(folder, CONFIG)
        raise Killed

    with pytest.raises(Killed):
        recovery.marking(fail)(tmp_path / "failed")
    assert first_step.took_no_step(tmp_path / "failed")


HOLD = """
import os, sys, pathlib
from allennlp.common import Params
import elmo_tasks.plugin
from allennlp.training import util
folder = pathlib.Path(sys.argv[1])
params = Params({"model": "m"})
util.create_serialization_dir(params, str(folder), recover=folder.exists(), force=False)
params.to_file(str(folder / "config.json"))
(folder / ".no_step").unlink(missing_ok=True)
if os.fork() == 0:  # a worker that outlives the training
    os.close(1)
    sys.stdin.read()
    os._exit(0)
print(flush=True)
sys.stdin.read()
"""
"""Trains in a folder until it is killed."""


@pytest.mark.parametrize("resumed", [False, True])
def test_folder_in_which_another_process_trains(tmp_path: Path, resumed: bool) -> None:
    run, config = tmp_path / "run", Params({"model": "m"})
    if resumed:
        run.mkdir()
        config.to_file(str(run / "config.json"))
    command = [sys.executable, "-c", HOLD, str(run)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline()
        before = sorted(tmp_path.rglob("*"))
        for recover, force in ((False, False), (True, False), (False, True)):
            with pytest.raises(InputError, match="run: another process is training in this folder"):
                training_util.create_serialization_dir(config, str(run), recover=recover, force=force)
        assert sorted(tmp_path.rglob("*")) == before
        other.kill()
        other.wait()
        training_util.create_serialization_dir(config, str(run), recover=True, force=False)
    training_util.create_serialization_dir(config, str(run), recover=False, force=True)
    assert names(run) == {MARK, LOCK}


@pytest.mark.parametrize("name", ["run[1]", "run*", "a?/run"])
def test_folder_in_which_checkpoints_would_not_be_found(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"expected the path of a folder without \*, \? and \["):
        start(tmp_path / name, CONFIG)
    assert list(tmp_path.iterdir()) == []


def test_nodes_of_one_run_do_not_lock_each_other_out(tmp_path: Path) -> None:
    start(tmp_path, {"distributed": {"num_nodes": 2}})
    assert list(tmp_path.iterdir()) == []


def test_config_is_written_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(value: object, file: TextIO, **options: object) -> None:
        file.write('{"half')
        raise Killed

    monkeypatch.setattr(json, "dump", half)
    file = tmp_path / "config.json"
    file.write_text("{}")
    with pytest.raises(Killed):
        Params(CONFIG).to_file(str(file))
    assert file.read_text() == "{}"


def test_metrics_are_written_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renamed = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: renamed.append(target) or replace(self, target))
    common_util.dump_metrics(str(tmp_path / "metrics.json"), {"f1": 0.5})
    common_util.dump_metrics(None, {"f1": 0.5}, log=True)
    assert renamed == [tmp_path / "metrics.json"]
    assert json.loads(renamed[0].read_text()) == {"f1": 0.5}


def test_archive_is_written_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (with_config(tmp_path) / "best.th").write_bytes(os.urandom(2000))
    (tmp_path / "vocabulary").mkdir()
    assert train.archive_model(tmp_path, include_in_archive=None) == str(tmp_path / "model.tar.gz")
    before = (tmp_path / "model.tar.gz").read_bytes()
    assert len(before) > 2000
    add = tarfile.TarFile.add

    def half(archive: tarfile.TarFile, name: str, **options: Any) -> None:
        if options["arcname"] == "vocabulary":
            raise Killed
        add(archive, name, **options)

    monkeypatch.setattr(tarfile.TarFile, "add", half)
    with pytest.raises(Killed):
        train.archive_model(tmp_path)
    assert (tmp_path / "model.tar.gz").read_bytes() == before
    assert not list(tmp_path.glob(".*"))
