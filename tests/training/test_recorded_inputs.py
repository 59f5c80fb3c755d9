"""The record of the data of a run, `inputs.json`, and what is refused with it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.system.run_names import INPUTS
from elmo_tasks.training.folder import record_inputs, require_same_data

NAMES: dict[str, Any] = {
    "file": "data/a.txt",
    "folder": "data",
    "pattern": "data/*.txt",
    "home": "~/data/a.txt",
    "member": "data/a.txt!member",
    "object": {"a": ["data/a.txt"]},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data, and the folder of a run."""
    for folder in ("data/.hidden", "data/sub", "run"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        (tmp_path / "data" / name).write_text(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_forms_of_a_name(split: str, name: str, here: Path) -> None:
    config = {f"{split}_data_path": NAMES[name]}
    record_inputs(here / "run", config)
    (here / "data/.hidden/file").touch()
    (here / "data/a.txt").touch()
    require_same_data(here / "run", config)
    (here / "data/a.txt").write_text("b.txt")
    with pytest.raises(InputError, match=r"run: other data .*data/a\.txt .restore"):
        require_same_data(here / "run", config)


def exchange(file: Path) -> None:
    """Other contents with the same size and date."""
    status = file.stat()
    file.write_text(file.read_text()[::-1])
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def add(file: Path) -> None:
    file.with_name("new.txt").touch()


def swap(file: Path) -> None:
    other = file.with_name("b.txt")
    file.rename("aside")
    other.rename(file)
    Path("aside").rename(other)


@pytest.mark.parametrize("change", [exchange, add, swap, Path.unlink])
def test_changes(change: Callable[[Path], None], here: Path) -> None:
    config = {"train_data_path": "data"}
    record_inputs(here / "run", config)
    change(here / "data/a.txt")
    with pytest.raises(InputError, match="other data than the run began with"):
        require_same_data(here / "run", config)


def test_word_vectors(here: Path) -> None:
    """Of any depth; other files that the model names have digests of their own."""
    keys = {"pretrained_file": "data/a.txt", "weight_file": "data/b.txt"}
    config = {"model": {"parts": [keys, {"lookup_file": "data/sub/c.txt"}]}}
    record_inputs(here / "run", config)
    recorded = (here / "run" / INPUTS).read_text()
    assert [*json.loads(recorded)] == ["data/a.txt", "data/sub/c.txt"]
    exchange(here / "data/a.txt")
    with pytest.raises(InputError, match=r"other data .*: data/a\.txt"):
        require_same_data(here / "run", config)


def test_what_is_not_on_this_machine(here: Path) -> None:
    config = {"train_data_path": "https://a.org/b", "test_data_path": "none"}
    record_inputs(here / "run", config)
    assert json.loads((here / "run" / INPUTS).read_text()) == {}


def test_training_data_among_the_data_of_scores(
    here: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config: dict[str, Any] = {
        "train_data_path": "data/a.txt",
        "validation_data_path": "data/b.txt",
        "test_data_path": "data/sub",
    }
    record_inputs(here / "run", config)
    assert not caplog.messages
    (here / "data/sub/c.txt").write_text("a.txt")
    record_inputs(here / "run", config)
    [warning] = caplog.messages
    assert warning.startswith("test_data_path: data/sub/c.txt has the text of")
    record_inputs(here / "run", config | {"data_loader": {"part": [0, 0.9]}})
    assert len(caplog.messages) == 1


def test_a_missing_record(here: Path) -> None:
    with pytest.raises(InputError, match=r"inputs\.json: cannot read the record"):
        require_same_data(here / "run", {})
