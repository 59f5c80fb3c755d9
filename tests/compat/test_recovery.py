"""`--recover` at the edges of a run, and files that are whole or absent."""

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


def recover(folder: Path, config: dict[str, Any]) -> None:
    training_util.create_serialization_dir(Params(config), str(folder), recover=True, force=False)


def begun(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    Params(CONFIG).to_file(str(folder / "config.json"))
    return folder


@pytest.mark.parametrize("left", [[], [f".config.json.{DEAD}.tmp"]])
def test_a_run_that_had_not_begun_begins(tmp_path: Path, left: list[str]) -> None:
    for name in left:
        (tmp_path / name).write_text("{")
    recover(tmp_path, CONFIG)
    assert {path.name for path in tmp_path.iterdir()} == {MARK, LOCK}


def test_a_run_with_the_same_configuration_goes_on(tmp_path: Path) -> None:
    half = begun(tmp_path) / f".model_state_e1_b0.th.{DEAD}.tmp"
    kept = [".hidden", "notes.tmp", f".model_state_e1_b0.th.{os.getppid()}.tmp"]
    for file in (half, *(tmp_path / name for name in kept)):
        file.write_text("")
    recover(tmp_path, CONFIG)
    assert {path.name for path in tmp_path.iterdir()} == {*kept, "config.json", LOCK}


@pytest.mark.parametrize("config", [None, {"model": "another"}])
def test_only_a_run_with_the_same_configuration_loses_temporary_files(tmp_path: Path, config: object) -> None:
    mine = tmp_path / f".notes.{DEAD}.tmp"
    mine.write_text("")
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
    before = sorted(tmp_path.iterdir())
    with pytest.raises((ConfigurationError, InputError)):
        recover(tmp_path, CONFIG)
    assert sorted(tmp_path.iterdir()) == before


def test_another_configuration_is_one_error_that_names_the_keys(tmp_path: Path) -> None:
    changed = {**CONFIG, "model": {"type": "m", "sise": 3}, "trainer": {"num_epochs": 5}}
    with pytest.raises(InputError) as error:
        recover(begun(tmp_path), changed)
    assert str(error.value).startswith(
        f"{tmp_path}/config.json: the run was begun with another configuration: model.sise was absent, is 3; "
        "model.size was 3, is absent; trainer.num_epochs was 2, is 5 (--recover resumes with the configuration in this "
        "file; for another one give -s another folder, or delete this one with --force)"
    )


def test_only_some_of_many_differences_are_listed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a was absent, is 1; .*e was absent, is 1; and 4 more \("):
        recover(begun(tmp_path), {**CONFIG, **dict.fromkeys("abcdefghi", 1)})


def test_what_allennlp_says_stays(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"does not exist\.  There is nothing to recover from"):
        recover(tmp_path / "none", CONFIG)
    (tmp_path / "letter.txt").write_text("")
    with pytest.raises(ConfigurationError, match=r"doesn't contain a config\.json"):
        recover(tmp_path, CONFIG)


CHANGED = {**CONFIG, "trainer": {"num_epochs": 5}}


def begin(folder: Path, config: dict[str, Any], *, recover: bool = False) -> None:
    training_util.create_serialization_dir(Params(config), str(folder), recover=recover, force=False)


TOKENS = Vocabulary({"tokens": {"a": 1}})
WORDS = LmVocabulary.of(WordVocabulary(["<S>", "</S>", "<UNK>"]))


def failed_before_a_step(folder: Path, vocabulary: Vocabulary = TOKENS) -> Path:
    """A run that wrote what a training writes before its first step, and whose process has ended."""
    begin(folder, CONFIG)
    vocabulary.save_to_files(str(folder / "vocabulary"))
    (folder / "log" / "train").mkdir(parents=True)
    names = f"config.json meta.json out.log .config.json.{DEAD}.tmp"
    for name in [*names.split(), "log/train/events.out.tfevents.1.host"]:
        (folder / name).write_text("{}")
    recovery.end_run()
    return folder


@pytest.mark.parametrize("recover", [False, True])
@pytest.mark.parametrize(("config", "vocabulary"), [(CONFIG, TOKENS), (CHANGED, WORDS)])
def test_a_folder_in_which_no_step_was_taken_is_taken_over(
    tmp_path: Path, config: dict[str, Any], vocabulary: Vocabulary, recover: bool
) -> None:
    begin(failed_before_a_step(tmp_path / "run", vocabulary), config, recover=recover)
    assert {path.name for path in (tmp_path / "run").iterdir()} == {MARK, LOCK}


@pytest.mark.parametrize(
    "name",
    [
        "model_state_e1_b0.th",
        "metrics_epoch_0.json",
        "model.tar.gz",
        "notes.md",
        "vocabulary/notes.txt",
        "log/a.txt",
        f".notes.{DEAD}.tmp",
    ],
)
def test_a_folder_that_holds_anything_else_is_left_alone(tmp_path: Path, name: str) -> None:
    run = failed_before_a_step(tmp_path / "run")
    (run / name).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    message = rf"expected an empty folder, got {name.partition('/')[0]} \(--recover resumes .* --force deletes"
    with pytest.raises(InputError, match=message):
        begin(run, CONFIG)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_is_left_alone(tmp_path: Path) -> None:
    run = failed_before_a_step(tmp_path / "run")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.txt").write_text("")
    shutil.rmtree(run / "vocabulary")
    (run / "vocabulary").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="expected an empty folder"):
        begin(run, CONFIG)
    assert (tmp_path / "mine" / "a.txt").is_file()


def test_the_first_step_ends_it(tmp_path: Path) -> None:
    begin(tmp_path, CONFIG)
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1).step()
    assert {path.name for path in tmp_path.iterdir()} == {"config.json", LOCK}
    with pytest.raises(InputError, match=r"expected an empty folder, got config.json \("):
        begin(tmp_path, CONFIG)


def test_a_dry_run_is_finished_and_a_failed_one_is_not(tmp_path: Path) -> None:
    recovery.marked(begin)(tmp_path / "dry", CONFIG)
    assert list((tmp_path / "dry").iterdir()) == []

    def fail(folder: Path) -> None:
        begin(folder, CONFIG)
        raise Killed

    with pytest.raises(Killed):
        recovery.marked(fail)(tmp_path / "failed")
    assert first_step.took_no_step(tmp_path / "failed")


def test_a_folder_without_a_run_is_not_resumed(tmp_path: Path) -> None:
    for name in "abcdefgh":
        (tmp_path / name).write_text("")
    with pytest.raises(InputError) as error:
        begin(tmp_path, CONFIG)
    assert str(error.value) == (
        f"{tmp_path}: expected an empty folder, got a, b, c, d, e and 3 more "
        "(give -s another folder; --force deletes this one)"
    )


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


@pytest.mark.parametrize("begins_again", [False, True])
def test_a_folder_in_which_another_process_trains_is_left_alone(tmp_path: Path, begins_again: bool) -> None:
    run, config = tmp_path / "run", Params({"model": "m"})
    if begins_again:
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
    assert {path.name for path in run.iterdir()} == {MARK, LOCK}


@pytest.mark.parametrize("name", ["run[1]", "run*", "a?/run"])
def test_a_folder_whose_checkpoints_would_not_be_found_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        InputError, match=r"expected the path of a folder without \*, \? and \[ \(AllenNLP would not find"
    ):
        begin(tmp_path / name, CONFIG)
    assert list(tmp_path.iterdir()) == []


def test_nodes_of_one_run_do_not_lock_each_other_out(tmp_path: Path) -> None:
    recovery.prepared(lambda *_: None)(Params({"distributed": {"num_nodes": 2}}), tmp_path, False, False)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_ends_leaves_no_lock(tmp_path: Path) -> None:
    recovery.marked(recover)(begun(tmp_path), CONFIG)
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]


class Killed(BaseException):
    """In the middle of writing."""


def test_the_configuration_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(value: object, file: TextIO, **options: object) -> None:
        file.write('{"half')
        raise Killed

    monkeypatch.setattr(json, "dump", half)
    file = tmp_path / "config.json"
    file.write_text("{}")
    with pytest.raises(Killed):
        Params(CONFIG).to_file(str(file))
    assert file.read_text() == "{}"


def test_metrics_are_written_and_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    renamed = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: renamed.append(target) or replace(self, target))
    common_util.dump_metrics(str(tmp_path / "metrics.json"), {"f1": 0.5})
    common_util.dump_metrics(None, {"f1": 0.5}, log=True)
    assert renamed == [tmp_path / "metrics.json"]
    assert json.loads(renamed[0].read_text()) == {"f1": 0.5}


def test_an_archive_is_there_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (begun(tmp_path) / "best.th").write_bytes(os.urandom(2000))
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
