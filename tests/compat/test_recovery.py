"""`--recover` at the edges of a run, and files that are whole or absent."""

import json
import os
import tarfile
from pathlib import Path
from typing import Any, TextIO

import pytest
from allennlp.commands import train
from allennlp.common import Params
from allennlp.common import util as common_util
from allennlp.common.checks import ConfigurationError
from allennlp.training import util as training_util

from elmo_tasks.errors import InputError

CONFIG = {"model": {"type": "m", "size": 3}, "trainer": {"num_epochs": 2}, "train_data_path": "a"}


def recover(folder: Path, config: dict[str, Any]) -> None:
    training_util.create_serialization_dir(Params(config), str(folder), recover=True, force=False)


def begun(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    Params(CONFIG).to_file(str(folder / "config.json"))
    return folder


@pytest.mark.parametrize("left", [[], [".config.json.4711.tmp"]])
def test_a_run_that_had_not_begun_begins(tmp_path: Path, left: list[str]) -> None:
    for name in left:
        (tmp_path / name).write_text("{")
    recover(tmp_path, CONFIG)
    assert list(tmp_path.iterdir()) == []


def test_a_run_with_the_same_configuration_goes_on(tmp_path: Path) -> None:
    half = begun(tmp_path) / ".model_state_e1_b0.th.4711.tmp"
    for file in (half, tmp_path / ".hidden", tmp_path / "notes.tmp"):
        file.write_text("")
    recover(tmp_path, CONFIG)
    assert {path.name for path in tmp_path.iterdir()} == {".hidden", "notes.tmp", "config.json"}


def test_another_configuration_is_one_error_that_names_the_keys(tmp_path: Path) -> None:
    changed = {**CONFIG, "model": {"type": "m", "sise": 3}, "trainer": {"num_epochs": 5}}
    with pytest.raises(InputError) as error:
        recover(begun(tmp_path), changed)
    assert str(error.value).startswith(
        f"{tmp_path}/config.json: the run was begun with another configuration: model.sise was absent, is 3; "
        "model.size was 3, is absent; trainer.num_epochs was 2, is 5 (--recover goes on with this very file"
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
