"""
Each key of each config with null, a value of another type, and a number that is none: a
problem of that key.
"""

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.cli.check import check_config
from elmo_tasks.errors import InputError
from elmo_tasks.training.checks.schema import shape_problems
from elmo_tasks.training.config import read_config
from tests.test_configs import FOLDER
from tests.test_flow import elmo_tasks

MODELS = (
    "bilm",
    "bilm_finetune",
    "coref_elmo",
    "ner_elmo",
    "snli_elmo",
    "squad_elmo",
    "srl_elmo",
    "sst_elmo",
    "tagger_elmo",
)

OPTIONAL = {
    "batches_per_epoch",
    "cache_dir",
    "callbacks",
    "cell_clip",
    "checkpointer",
    "elmo",
    "grad_clipping",
    "grad_norm",
    "include_in_archive",
    "initializer",
    "l2",
    "learning_rate_scheduler",
    "lookup_file",
    "max_tokens",
    "min_count",
    "min_phrase_length",
    "moving_average",
    "n_highway",
    "negatives",
    "num_embeddings",
    "padding_index",
    "sorting_keys",
    "validation_dataset_reader",
    "patience",
    "precision",
    "pretrained_file",
    "proj_clip",
    "random_seed",
    "numpy_seed",
    "pytorch_seed",
    "regexes",
    "run_confidence_checks",
    "save_every_num_batches",
    "seed",
    "shuffle",
    "size",
    "steps_per_epoch",
    "text_field_embedder",
    "token_indexers",
    "use_skip_connections",
    "validation_data_loader",
    "validation_data_path",
}
"""The keys of our configs that may be null."""

Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The parts of a config, outer ones first."""
    if place:
        yield place, value
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*place, key))
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from places(part, (*place, index))


def wrong(value: Any) -> list[Any]:
    """Values that cannot stand in place of one."""
    if value is None:
        return []
    if isinstance(value, bool):
        return ["x", 5, {}]
    if isinstance(value, int | float):
        return ["5", math.nan, math.inf, 10**400, True, [], {}]
    if isinstance(value, str):
        return [5, True, [], {}]
    if isinstance(value, list):
        return [5, {}]
    return [5, True, []]


def changed(config: dict[str, Any], place: Place, value: Any) -> dict[str, Any]:
    """The config with another value at a place."""
    copied = copy.deepcopy(config)
    part: Any = copied
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return copied


@pytest.fixture(scope="module")
def seen() -> set[Place]:
    """Places that several configs share are tried once."""
    return set()


@pytest.mark.parametrize("name", MODELS)
def test_every_key(name: str, configs: Path, seen: set[Place]) -> None:
    config = read_config(configs / "paper" / f"{name}.jsonnet").as_dict(quiet=True)
    missed = []
    for place, value in places(config):
        shared = place if place[0] in ("trainer", "model") else (name, *place)
        if shared in seen:
            continue
        seen.add(shared)
        path = ".".join(map(str, place))
        values = wrong(value)
        if place[-1] not in OPTIONAL:
            values.append(None)
        if place[-1] == "tag":
            values.remove(5)  # a column
        for other in values:
            problems = shape_problems(changed(config, place, other))
            found = [one for one in problems if is_of(one.path, path)]
            if other is None:  # or of a key that this one is needed with
                found = problems
            if not found or "\n" in str(found[0]):
                missed.append((path, other))
    assert missed == []


def is_of(path: str, key: str) -> bool:
    """
    Whether the place of a problem is a key, or a part of it; or a value that the key is
    part of, in an object.
    """
    is_around = "." in path and key.startswith(f"{path}.")
    return is_around or f"{path}.".startswith(f"{key}.")


@pytest.mark.parametrize(
    "overrides",
    [
        {"data_loader": None},
        {"dataset_reader": None},
        {"model": None},
        {"model": {"type": 5}},
        {"model": 5},
        {"trainer": None},
        {"train_data_path": None},
        {"train_data_path": 5},
        {"vocabulary": None},
    ],
)
def test_training_stops_as_check_says(
    overrides: dict[str, Any], tmp_path: Path
) -> None:
    (problem,) = check_config(FOLDER / "ner.jsonnet", json.dumps(overrides))
    (key,) = overrides
    assert problem.path in (key, f"{key}.type")
    folder = tmp_path / "run"
    options = ["-s", folder, "-o", json.dumps(overrides)]
    with pytest.raises(InputError, match="one problem, nothing was read") as raised:
        elmo_tasks("train", FOLDER / "ner.jsonnet", *options)
    assert str(raised.value).endswith(f"\n  {problem}")
    assert not folder.exists()
