"""The configs in `training_config`: they train at every scale, and hyperparameters and overrides work."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params

from elmo_tasks import settings
from elmo_tasks.commands.check import check_config
from elmo_tasks.errors import InputError
from tests.elmo.transformer_samples import write_transformer
from tests.pretraining import toy
from tests.tiny import use_data_root

FOLDER = Path(__file__).resolve().parents[1] / "training_config"
CONFIGS = sorted(path.stem for path in FOLDER.glob("*.jsonnet"))
TASKS = ("coref", "ner", "snli", "squad", "srl", "sst")
TINY: dict[str, dict[str, Any]] = {"bilm": {"model.options": toy.OPTIONS, "model.negatives": None}}
"""Overrides for what takes minutes to build at scale `paper`."""


@pytest.fixture(params=settings.SCALES)
def scale(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, root: Path) -> str:
    """Each scale in turn, on the same tiny files."""
    use_data_root(monkeypatch, root, scale=request.param)
    return str(request.param)


def read(name: str, **overrides: Any) -> Params:
    return Params.from_file(FOLDER / f"{name}.jsonnet", json.dumps({**TINY.get(name, {}), **overrides}))


def build(folder: Path, name: str, **overrides: Any) -> TrainModel:
    torch.manual_seed(2)
    params = read(name, **overrides)
    for key in ("evaluation", "include_in_archive"):  # `allennlp train` removes them, too
        params.pop(key, None)
    built = TrainModel.from_params(params=params, serialization_dir=str(folder), local_rank=0)
    assert isinstance(built, TrainModel)
    return built


def training_loss(built: TrainModel) -> float:
    """Of one batch."""
    outputs = built.trainer.batch_outputs(next(iter(built.trainer.data_loader)), for_training=True)
    outputs["loss"].backward()
    return float(outputs["loss"].item())


def test_paper_recipe_for_srl_does_not_diverge(monkeypatch: pytest.MonkeyPatch, root: Path, tmp_path: Path) -> None:
    use_data_root(monkeypatch, root, scale="paper")
    built = build(tmp_path, "srl", validation_data_path=None)
    trainer = built.trainer
    losses = []
    for _ in range(15):
        trainer.optimizer.zero_grad()
        losses.append(training_loss(built))
        trainer.rescale_gradients()
        trainer.optimizer.step()
    assert losses[-1] < losses[0] and max(losses) < 1.2 * losses[0], losses


@pytest.mark.parametrize("name", CONFIGS)
def test_config_has_no_problems_and_trains(name: str, scale: str, tmp_path: Path) -> None:
    problems = check_config(FOLDER / f"{name}.jsonnet", json.dumps(TINY.get(name, {})))
    assert [str(problem) for problem in problems] == []
    assert math.isfinite(training_loss(build(tmp_path, name)))
    text = json.dumps(read(name).as_dict(quiet=True))
    assert "test_data_path" not in text, "configs must not train or validate on test data"
    assert not re.search(r"testb|[/_]test[.-](txt|jsonl|v1|gold)|srl/test", text)


@pytest.mark.parametrize("task", TASKS)
def test_two_keys_put_a_transformer_in_the_place_of_the_bilm(task: str, mini: Path, tmp_path: Path) -> None:
    keys = {"model.elmo.source": "transformer", "model.elmo.options_file": "absent"}
    (problem,) = check_config(FOLDER / f"{task}_elmo.jsonnet", json.dumps(keys))
    assert problem.path == "model.elmo.model"
    keys["model.elmo.model"] = write_transformer(tmp_path / "bert")
    assert check_config(FOLDER / f"{task}_elmo.jsonnet", json.dumps(keys)) == []
    built = build(tmp_path, f"{task}_elmo", **keys)
    assert math.isfinite(training_loss(built)) and "elmo_long_texts" in built.model.lowest_layers.describe()


@pytest.mark.parametrize("vectors", ["null", "{ embedding_dim: 50 }"])
@pytest.mark.parametrize("name", ["ner", "snli", "squad_elmo"])
def test_word_vectors_can_be_learned_or_left_out(name: str, vectors: str, mini: Path, tmp_path: Path) -> None:
    leaf = tmp_path / "leaf.jsonnet"
    leaf.write_text(f"(import '{FOLDER / name}.jsonnet') {{ vectors:: {vectors} }}")
    assert check_config(leaf) == []
    if vectors == "null" and name == "snli":  # it has no characters
        with pytest.raises(InputError, match="no word vectors, no characters, no ELMo at the input"):
            build(tmp_path / "run", str(leaf.with_suffix("")))
        return
    assert training_loss(build(tmp_path / "run", str(leaf.with_suffix("")))) > 0
    embedders = Params.from_file(leaf)["model"]["text_field_embedder"]["token_embedders"].as_dict(quiet=True)
    learned = {"type": "elmo_tasks_word_vectors", "trainable": True, "embedding_dim": 50}
    assert embedders.get("tokens") == (None if vectors == "null" else learned)


@pytest.mark.parametrize("name", TASKS)
def test_elmo_config_is_the_base_config_with_elmo(name: str, scale: str) -> None:
    base, with_elmo = (read(which).as_dict(quiet=True) for which in (name, f"{name}_elmo"))
    elmo = with_elmo["model"].pop("elmo")
    assert with_elmo == base
    assert "/bilm/" in elmo["weight_file"] and scale in settings.SCALES


@pytest.mark.parametrize("scale", ["mini", "small"])
def test_squad_starts_with_positive_products(
    scale: str, monkeypatch: pytest.MonkeyPatch, root: Path, tmp_path: Path
) -> None:
    use_data_root(monkeypatch, root, scale=scale)
    weights = dict(build(tmp_path, "squad_elmo").model.named_parameters())
    product = weights["attention.similarity.product"]
    assert product.min() >= 0 and 0.3 < product.max() <= 0.4
    for name in ("attention.similarity.left", "self_attention.attention.similarity.product"):
        assert weights[name].min() < 0


@pytest.mark.parametrize("name", ["bilm", "ner"])
def test_missing_data_root(name: str, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    use_data_root(monkeypatch, root, scale="small")
    monkeypatch.setenv(settings.DATA_VARIABLE, "")
    with pytest.raises(RuntimeError, match='ELMO_TASKS_DATA is not set: at scale "small" it must name'):
        read(name)
