"""Helpers and checks for the tests of all task models."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, Instance, Vocabulary
from allennlp.models import Model

from tests.tiny import bilm_files


def tensors(vocab: Vocabulary, given: Sequence[Instance]) -> dict[str, Any]:
    """A batch of these instances."""
    batch = Batch(given)
    batch.index_instances(vocab)
    return batch.as_tensor_dict()


def make_model(
    params: dict[str, Any], given: Sequence[Instance], folder: Path, elmo: dict[str, Any] | None, **keys: Any
) -> Model:
    """A model in evaluation mode, with the vocabulary of these instances; `elmo` uses a random biLM in `folder`."""
    params = {**deepcopy(params), **keys}
    if elmo is not None:
        params["elmo"] = {**bilm_files(folder), **elmo}
    torch.manual_seed(5)
    return Model.from_params(Params(params), vocab=Vocabulary.from_instances(given)).eval()


def fit(model: Model, batch: dict[str, Any], *, lr: float, steps: int) -> None:
    """Trains on one batch; afterwards the model is in evaluation mode, with the metrics of that batch."""
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        model.train()(**batch)["loss"].backward()
        optimizer.step()
    model.get_metrics(reset=True)
    model.eval()(**batch)


def check_gradients(model: Model, batch: dict[str, Any], *, count: int, passes: int = 1) -> None:
    """All `count` trained parameters get a gradient, within some passes."""
    for _ in range(passes):
        model.train()(**batch)["loss"].backward()
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    assert len(parameters) == count
    assert all(p.grad is not None and p.grad.any() and p.grad.isfinite().all() for p in parameters.values())


def check_null_elmo(build: Callable[..., Model], batch: Callable[[Vocabulary], dict[str, Any]]) -> None:
    """A model with `elmo: null` is the one without the key: the same parameters, the same loss."""
    models = [build(), build(**{"elmo": None})]
    states = [model.state_dict() for model in models]
    assert list(states[0]) == list(states[1])
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    losses = []
    for model in models:
        torch.manual_seed(3)
        losses.append(model.train()(**batch(model.vocab))["loss"].item())
    assert losses[0] == losses[1] > 0.5


def check_penalty(
    build: Callable[..., Model], batch: Callable[[Vocabulary], dict[str, Any]], *, place: str, tolerance: float
) -> None:
    """The penalty on the weights of the mixes is a part of the loss."""
    losses = []
    for l2 in (None, 0.1):
        model = build(elmo={"at": "both" if place == "output" else place, "l2": l2})
        mix = getattr(model.lowest_layers.elmo, f"{place}_mix")
        mix.weights.data = torch.tensor([2.0, 1.0, 0.0])
        losses.append(model(**batch(model.vocab))["loss"].item())
    assert losses[1] - losses[0] == pytest.approx(0.1 * 5, abs=tolerance)
