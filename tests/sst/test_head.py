"""Both heads against loops."""

import pytest
import torch
from allennlp.common import Lazy, Params
from torch import Tensor, nn

from elmo_tasks.sst.head import Head, MaxoutHead


def head(**keys: object) -> Head:
    torch.manual_seed(6)
    params = {"hidden_sizes": [4, 3], "dropout": [0.2, 0.3], **keys}
    return Lazy(Head, Params(params)).construct(input_dim=5, classes=2).eval()


def linears(part: Head) -> list[nn.Linear]:
    return [module for module in part.modules() if isinstance(module, nn.Linear)]


@pytest.fixture
def inputs() -> Tensor:
    return torch.randn(3, 5, generator=torch.Generator().manual_seed(8))


def test_maxout_layers(inputs: Tensor) -> None:
    part = head(type="elmo_tasks_maxout", pool_size=3)
    assert isinstance(part, MaxoutHead)
    assert [layer.out_features for layer in linears(part)] == [12, 9, 6]
    expected = inputs
    for layer in linears(part):
        values = layer(expected)
        expected = torch.stack([values[:, start : start + 3].amax(1) for start in range(0, values.shape[1], 3)], 1)
    assert torch.allclose(part(inputs), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["elmo_tasks_relu", "elmo_tasks_maxout"])
def test_dropout_and_initial_biases(kind: str) -> None:
    part = head(type=kind)
    rates = [module.p for module in part.modules() if isinstance(module, nn.Dropout)]
    assert [rate for rate in rates if rate] == [0.2, 0.3]
    assert len(linears(part)) == 3 and not any(layer.bias.any() for layer in linears(part))
