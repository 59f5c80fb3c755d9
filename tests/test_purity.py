"""A model's `forward` changes neither weights nor buffers nor vocabulary."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from elmo_tasks.tasks import TASKS
from tests.models import make_model, tensors
from tests.tiny import SAMPLES, SIZES, tiny_model, write_vectors


def predictor(task: str, folder: Path) -> tuple[Predictor, list[Instance]]:
    """
    A random model as from an archive, which looks words up in a file, and its training
    data.
    """
    words = set(re.findall(r"\w+", str(TASKS[task].examples)))
    file = write_vectors(
        folder / "vectors", sorted(words)[::2], width=SIZES["embedding_dim"]
    )
    keys = {"type": f"elmo_tasks_{task}", "lookup_files": [str(file)]}
    reader = DatasetReader.from_params(Params(keys))
    instances = list(reader.read(SAMPLES[task]))[:5]
    parts = tiny_model(task)["text_field_embedder"]
    parts["token_embedders"]["tokens"]["lookup_file"] = str(file)
    built = make_model(
        task, instances, folder, {"at": "both"}, text_field_embedder=parts
    )
    return Predictor.by_name(f"elmo_tasks_{task}")(built, reader), instances


def state(model: Model) -> dict[str, Any]:
    """A copy of everything that a call must not change."""
    frozen = [
        module.source
        for module in model.modules()
        if isinstance(module, ElmoTokenEmbedder)
    ]
    found: dict[str, Any] = deepcopy(dict(model.vocab._token_to_index))
    for number, module in enumerate([model, *frozen]):
        tensors = {**module.state_dict(), **dict(module.named_buffers())}
        found |= {
            f"{number}.{name}": deepcopy(value) for name, value in tensors.items()
        }
    return found


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        same = (
            torch.equal(found[name], value)
            if isinstance(value, torch.Tensor)
            else found[name] == value
        )
        assert same, name


@pytest.mark.parametrize("task", TASKS)
def test_calls_change_no_state(task: str, tmp_path: Path) -> None:
    used, instances = predictor(task, tmp_path)
    model = used._model
    batch = tensors(model.vocab, instances)
    before = state(model)
    model.train()(**batch)["loss"].backward()
    assert_same(state(model), before)
    model.eval()(**batch)
    inputs = [example.input for example in TASKS[task].examples]
    assert used.predict_batch_json(inputs)
    assert_same(state(model), before)
