"""
The configs in `training_config`: they train at every scale, and hyperparameters and
overrides work.
"""

import json
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import torch
from allennlp.commands.train import TrainModel

from elmo_tasks import resources
from elmo_tasks.cli.check import check_config
from elmo_tasks.training.config import read_config
from tests.elmo.sources.transformer_samples import write_transformer
from tests.pretraining import toy

FOLDER = Path(__file__).resolve().parents[1] / "training_config"


def all_configs() -> Iterator[Any]:
    """The names of all configs; those of the larger scales are slow tests."""
    for scale in sorted(resources.SCALES):
        marks = () if scale == "mini" else pytest.mark.slow
        for path in sorted(resources.scale_folder(FOLDER, scale).glob("*.jsonnet")):
            yield pytest.param(str(path.relative_to(FOLDER)), marks=marks)


CONFIGS = list(all_configs())
TINY: dict[str, dict[str, Any]] = {
    "bilm.jsonnet": {"model.options": toy.OPTIONS, "model.negatives": None}
}
"""Overrides for what takes minutes to build at scale `paper`."""


def jsonnet(text: str) -> dict[str, Any]:
    return json.loads(_jsonnet.evaluate_snippet("", text, ext_vars=dict(os.environ)))


def changes(paper: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """
    All keys of the paper's config, with another value; objects are changed within if
    the other config has them, too.
    """
    found = {}
    for key, value in paper.items():
        found[key] = "changed"
        if isinstance(value, dict) and isinstance(other.get(key), dict):
            found[key] = changes(value, other[key])
    return found


def within(value: Any) -> str:
    """The same in Jsonnet, added to the keys of an imported config."""
    if not isinstance(value, dict):
        return json.dumps(value)
    fields = []
    for key, part in value.items():
        sign = "+:" if isinstance(part, dict) else ":"
        fields.append(f"{json.dumps(key)}{sign} {within(part)}")
    return "{" + ", ".join(fields) + "}"


def agrees(found: Any, expected: Any) -> bool:
    """Whether a config has all values of another."""
    if not isinstance(expected, dict):
        return bool(found == expected)
    return all(agrees(found.get(key), part) for key, part in expected.items())


@pytest.mark.parametrize("config", CONFIGS)
def test_each_key_of_the_paper_can_be_changed(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a user's config does that imports ours; also a key that ours leaves out."""
    monkeypatch.setenv("ELMO_TASKS_DATA", "/data")
    file = FOLDER / config
    paper = FOLDER / "paper" / file.name
    if not paper.exists():
        paper = file
    ours = f"(import '{file}')"
    expected = changes(jsonnet(f"(import '{paper}')"), jsonnet(ours))
    assert agrees(jsonnet(f"{ours} + {within(expected)}"), expected)


def build(folder: Path, config: Path, **overrides: Any) -> TrainModel:
    torch.manual_seed(2)
    overrides = TINY.get(config.name, {}) | overrides
    params = read_config(config, json.dumps(overrides))
    for key in ("evaluation", "include_in_archive"):
        params.pop(key, None)  # as `allennlp train`
    built = TrainModel.from_params(
        params=params, serialization_dir=str(folder), local_rank=0
    )
    assert isinstance(built, TrainModel)
    return built


def training_loss(built: TrainModel) -> float:
    """Of one batch."""
    outputs = built.trainer.batch_outputs(
        next(iter(built.trainer.data_loader)), for_training=True
    )
    outputs["loss"].backward()
    return float(outputs["loss"].item())


@pytest.mark.parametrize("name", CONFIGS)
def test_config_has_no_problems_and_trains(
    name: str, configs: Path, tmp_path: Path
) -> None:
    file = configs / name
    overrides = json.dumps(TINY.get(file.name, {}))
    assert check_config(file, overrides)[:2] == ([], {})
    assert math.isfinite(training_loss(build(tmp_path, file)))
    text = json.dumps(read_config(file).as_dict(quiet=True))
    assert "test_data_path" not in text, (
        "configs must not train or validate on test data"
    )
    assert not re.search(r"testb|[/_]test[.-](txt|jsonl|v1|gold)|srl/test", text)


def test_a_key_puts_a_transformer_in_the_place_of_the_bilm(
    configs: Path, tmp_path: Path
) -> None:
    file = configs / "squad_elmo.jsonnet"
    keys = {"model.elmo.source": "transformer", "model.elmo.options_file": "absent"}
    (problem,) = check_config(file, json.dumps(keys)).problems
    assert problem.startswith("model: elmo: model: ")
    keys["model.elmo.model"] = write_transformer(tmp_path / "bert")
    assert check_config(file, json.dumps(keys)).problems == []
    del keys["model.elmo.source"]
    assert check_config(file, json.dumps(keys)).problems == []
    built = build(tmp_path, file, **keys)
    assert math.isfinite(training_loss(built))


WITH_ELMO = [file.relative_to(FOLDER) for file in FOLDER.rglob("*_elmo.jsonnet")]


@pytest.mark.parametrize("name", sorted(WITH_ELMO), ids=str)
def test_elmo_config_is_the_base_config_with_elmo(name: Path, configs: Path) -> None:
    file = configs / name
    base = file.with_name(file.name.replace("_elmo", ""))
    base = read_config(base).as_dict(quiet=True)
    with_elmo = read_config(file).as_dict(quiet=True)
    elmo = with_elmo["model"].pop("elmo")
    assert with_elmo == base
    assert "/bilm/" in elmo["weight_file"]
