"""What `train` and `check` read as a config, and one seed."""

import os
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params

from elmo_tasks.errors import InputError
from elmo_tasks.training.config import differences, read_config, spread_seed


@pytest.mark.parametrize(
    ("text", "overrides", "message"),
    [
        ("[1]", "", r"c.jsonnet: expected a JSON object, got \[1\]"),
        ("{}", "[1e9, 50]", r"^expected a JSON object in -o, got \[1000000000, 50\]"),
        ('{"a": [{"b": 1}]}', '{"a.7.b": 1}', r"the overrides \(-o\)"),
    ],
)
def test_invalid_configs(
    text: str, overrides: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "c.jsonnet").write_text(text)
    with pytest.raises(InputError, match=message):
        read_config(tmp_path / "c.jsonnet", overrides)


def test_what_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file, found in (
        (tmp_path, "a folder"),
        (tmp_path / "pipe", "a pipe"),
        ("", "an empty name"),
    ):
        with pytest.raises(
            InputError, match=f"expected a configuration file, got {found}"
        ):
            read_config(file)


ELMO = {"at": "input", "mix": {"type": "last"}}
IN_BOTH = 'elmo.at: "input" -> "both"'


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, ["a.b: 1 -> 2"]),
        ({"elmo": ELMO}, {"elmo": ELMO | {"at": "both"}}, [IN_BOTH]),
        (
            {"elmo": None},
            {"elmo": ELMO},
            [
                "elmo: null -> nothing",
                'elmo.at: nothing -> "input"',
                'elmo.mix.type: nothing -> "last"',
            ],
        ),
        ({"elmo": {}}, {"elmo": None}, ["elmo: nothing -> null"]),
        ({"elmo": {}}, {}, []),
        (
            {"a": [1, {"b": 2}]},
            {"a": [1, {"b": 3}]},
            ['a: [1, {"b": 2}] -> [1, {"b": 3}]'],
        ),
    ],
)
def test_differences(
    before: dict[str, Any], after: dict[str, Any], expected: list[str]
) -> None:
    """A line for each key, those that are added last."""
    assert differences(before, after) == expected


@pytest.mark.parametrize(
    "config",
    [
        {"seed": 2**32},
        {"seed": "5"},
        {"seed": True},
        {"seed": 5, "numpy_seed": 5},
        {"numpy_seed": 2**32},
    ],
)
def test_invalid_seeds(config: dict[str, Any]) -> None:
    with pytest.raises(
        InputError,
        match="seed: expected a (number less|valid)|the config also has numpy_seed",
    ):
        spread_seed(Params(config))
