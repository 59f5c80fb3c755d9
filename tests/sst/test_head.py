"""Both heads against loops over plain numbers."""

import pytest
import torch
from allennlp.common import Lazy, Params
from torch import Tensor, nn

from elmo_tasks.sst.head import Head, MaxoutHead, ReluHead

SIZES = {"hidden_sizes": [4, 3], "dropout": [0.2, 0.3]}


def head(**keys: object) -> Head:
    torch.manual_seed(6)
    return Lazy(Head, Params({**SIZES, **keys})).construct(input_dim=5, classes=2).eval()


def linears(part: Head) -> list[nn.Linear]:
    return [module for module in part.modules() if isinstance(module, nn.Linear)]


def products(layer: nn.Linear, vector: list[float]) -> list[float]:
    rows, biases = layer.weight.tolist(), layer.bias.tolist()
    return [sum(a * b for a, b in zip(row, vector, strict=True)) + c for row, c in zip(rows, biases, strict=True)]


@pytest.fixture
def inputs() -> Tensor:
    return torch.randn(3, 5, generator=torch.Generator().manual_seed(8))


def test_relu_layers_by_loops(inputs: Tensor) -> None:
    part = head()
    assert isinstance(part, ReluHead), "the paper's is the default"
    first, second, last = linears(part)
    for row, vector in zip(part(inputs).tolist(), inputs.tolist(), strict=True):
        for layer in (first, second):
            vector = [max(0.0, value) for value in products(layer, vector)]
        assert row == pytest.approx(products(last, vector), abs=1e-5)


def test_maxout_layers_by_loops(inputs: Tensor) -> None:
    part = head(type="elmo_tasks_maxout", pool_size=3)
    assert isinstance(part, MaxoutHead)
    assert [layer.out_features for layer in linears(part)] == [12, 9, 6]
    for row, vector in zip(part(inputs).tolist(), inputs.tolist(), strict=True):
        for layer in linears(part):
            values = products(layer, vector)
            vector = [max(values[start : start + 3]) for start in range(0, len(values), 3)]
        assert row == pytest.approx(vector, abs=1e-5)


@pytest.mark.parametrize("kind", ["elmo_tasks_relu", "elmo_tasks_maxout"])
def test_dropout_behind_each_hidden_layer_and_no_other(kind: str, inputs: Tensor) -> None:
    rates = [module.p for module in head(type=kind).modules() if isinstance(module, nn.Dropout)]
    assert [rate for rate in rates if rate] == [0.2, 0.3]
    part = head(type=kind).train()
    assert not torch.equal(part(inputs), part(inputs))


@pytest.mark.parametrize("kind", ["elmo_tasks_relu", "elmo_tasks_maxout"])
def test_every_layer_starts_without_bias(kind: str) -> None:
    layers = linears(head(type=kind))
    assert len(layers) == 3
    assert not any(layer.bias.any() for layer in layers)
