"""What `train` and `check` read as a config, and one seed."""

import os
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params

from elmo_tasks.errors import InputError
from elmo_tasks.training.config import read_config
from elmo_tasks.training.seeds import SEEDS, spread_seed


@pytest.mark.parametrize(
    ("text", "overrides", "message"),
    [
        ("[1]", "", r"c.jsonnet: expected a JSON object, got \[1\]"),
        ("{}", "[1e9, 50]", r"^expected a JSON object in -o, got \[1000000000, 50\]"),
        ('{"a": [{"b": 1}]}', '{"a.7.b": 1}', r"the overrides \(-o\)"),
    ],
)
def test_invalid_configs(text: str, overrides: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "c.jsonnet").write_text(text)
    with pytest.raises(InputError, match=message):
        read_config(tmp_path / "c.jsonnet", overrides)


def test_what_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file, found in ((tmp_path, "a folder"), (tmp_path / "pipe", "a pipe"), ("", "an empty name")):
        with pytest.raises(InputError, match=f"expected a configuration file, got {found}"):
            read_config(file)


def test_overrides(tmp_path: Path) -> None:
    (tmp_path / "c.jsonnet").write_text('{"a": {"b": 1, "c": [1, {"d": 2}]}}')
    found = read_config(tmp_path / "c.jsonnet", '{"a.b": 1 + 1, "a.c.1.d": 5}')
    assert found.as_dict(quiet=True) == {"a": {"b": 2, "c": [1, {"d": 5}]}}


@pytest.mark.parametrize(
    "config", [{"seed": 2**32}, {"seed": "5"}, {"seed": True}, {"seed": 5, "numpy_seed": 5}, {"numpy_seed": 2**32}]
)
def test_invalid_seeds(config: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"seed: expected an integer from 0 to 4294967295|got numpy_seed, too"):
        spread_seed(Params(config))


def test_one_seed_becomes_three() -> None:
    params = Params({"seed": 7})
    spread_seed(params)
    assert params.as_dict(quiet=True) == dict.fromkeys(SEEDS, 7)
