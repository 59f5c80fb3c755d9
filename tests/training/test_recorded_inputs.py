"""The record of what a run reads, `inputs.json`: names, and what is refused without it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.system.run_names import INPUTS, VOCABULARY
from elmo_tasks.training.inputs import (
    record_inputs,
    record_vocabulary,
    require_unchanged,
)

INDEXER = {"type": "pretrained_transformer", "model_name": "bert"}
EMBEDDER = {"text_field_embedder": {"token_embedders": {"a": INDEXER}}}
READ: dict[str, Any] = {
    "indexer": {"dataset_reader": {"token_indexers": {"a": INDEXER}}},
    "embedder": {"model": EMBEDDER},
    "another key": {"model": {"bert_model": "bert"}},
    "path": {"model": {"transformer_model": "./bert/"}},
    "vocabulary": {
        "vocabulary": {"type": "from_pretrained_transformer", "model_name": "bert"}
    },
    "file of any key": {"model": {"words": ["x", "bert/config.json"]}},
    "interleaving": {"train_data_path": '{"a": "bert/config.json", "b": "no"}'},
    "data": {"train_data_path": {"a": ["bert/config.json"]}},
}
NOT_READ: dict[str, Any] = {
    "name of a class": {"model": {"type": "bert"}},
    "cache": {"model": {"cache_dir": "bert"}},
    "output": {"trainer": {"callbacks": [{"output_file": "bert/config.json"}]}},
    "folder without JSON": {"model": {"namespace": "data"}},
    "this folder": {"model": {"separator": ".", "root": "/", "parent": ".."}},
    "pattern": {"model": {"initializer": {"regexes": [["b.*|.*", "data/*"]]}}},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a transformer, data, and the folder of a run."""
    (tmp_path / "bert" / "more").mkdir(parents=True)
    (tmp_path / "bert" / "config.json").write_text("{}")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "text.txt").write_text("a")
    (tmp_path / "run").mkdir()
    (tmp_path / "notes.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", READ)
def test_files_of_any_key_are_recorded(name: str, here: Path) -> None:
    """Changed, and removed."""
    config = READ[name]
    record_inputs(here / "run", config)
    require_unchanged(here / "run", config)
    file = here / "bert" / "config.json"
    file.write_text('{"a": 1}')
    with pytest.raises(InputError, match=r"bert.* has changed"):
        require_unchanged(here / "run", config)
    file.unlink()
    with pytest.raises(InputError, match=r"bert.* has changed"):
        require_unchanged(here / "run", config)
    file.write_text("{}")
    require_unchanged(here / "run", config)


@pytest.mark.parametrize("name", NOT_READ)
def test_other_strings_are_no_files(name: str, here: Path) -> None:
    record_inputs(here / "run", NOT_READ[name])
    assert json.loads((here / "run" / INPUTS).read_text()) == {}


def test_a_folder_in_the_place_of_a_file(here: Path) -> None:
    config = {"train_data_path": "data/text.txt"}
    record_inputs(here / "run", config)
    file = here / "data" / "text.txt"
    file.rename(here / "aside")
    file.mkdir()
    (here / "aside").rename(file / "text.txt")
    with pytest.raises(InputError, match="has changed"):
        require_unchanged(here / "run", config)


@pytest.mark.parametrize(
    "text", [None, "", "[]", "3", '{"x": 1}', '{"x": {}}', '{"x": {"sha256": 3}}']
)
def test_a_record_that_is_none(text: str | None, here: Path) -> None:
    if text is not None:
        (here / "run" / INPUTS).write_text(text)
    with pytest.raises(InputError, match=r"inputs\.json: expected the record") as error:
        require_unchanged(here / "run", {})
    assert "--allow-changed-files" in str(error.value)
    assert "\n" not in str(error.value)
    require_unchanged(here / "run", {}, allow_changed=True)


def edit(file: Path) -> None:
    file.write_text("b\n")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tokens.txt", Path.unlink),
        ("tokens.txt", edit),
        ("labels.txt", edit),
        ("new.txt", edit),
    ],
)
def test_a_vocabulary_that_is_not_as_it_was(
    name: str, change: Callable[[Path], None], here: Path
) -> None:
    """Its weights belong to it: no option allows another."""
    run = here / "run"
    (run / VOCABULARY).mkdir()
    for one in ("tokens.txt", "labels.txt"):
        (run / VOCABULARY / one).write_text("a\n")
    record_inputs(run, {})
    record_vocabulary(run)
    require_unchanged(run, {})
    change(run / VOCABULARY / name)
    with pytest.raises(InputError, match=f"{name}: expected the vocabulary"):
        require_unchanged(run, {}, allow_changed=True)


def test_a_vocabulary_of_which_a_killed_run_has_written_a_part(here: Path) -> None:
    run = here / "run"
    record_inputs(run, {})
    (run / VOCABULARY).mkdir()
    (run / VOCABULARY / "tokens.txt").write_text("a\n")
    require_unchanged(run, {})
