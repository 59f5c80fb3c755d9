"""
Eq. (1): the mix against AllenNLP's, its penalty, and both layer norms against NumPy.
"""

from typing import Any

import numpy as np
import pytest
import torch
from allennlp.modules import ScalarMix as AllenNLPScalarMix
from torch import Tensor

from elmo_tasks.elmo.scalar_mix import MixSettings, ScalarMix, normalize
from elmo_tasks.errors import InputError

LENGTHS = [4, 1, 0, 3]
MASK = torch.arange(5)[None, :] < torch.tensor(LENGTHS)[:, None]  # [B, T]


@pytest.fixture
def layers() -> Tensor:
    """[L+1, B, T, D]; large values in the padding, which must not matter."""
    values = (
        torch.randn(3, 4, 5, 6) * 2.0
        + torch.tensor([1.0, -3.0, 0.5])[:, None, None, None]
    )
    return torch.where(MASK[None, :, :, None], values, 1000.0)


def with_weights(mix: ScalarMix, weights: list[float], gamma: float = 1.0) -> ScalarMix:
    assert mix.weights is not None and mix.gamma is not None
    mix.weights.data = torch.tensor(weights)
    mix.gamma.data = torch.tensor(gamma)
    return mix


@pytest.mark.parametrize(
    ("mix", "layer"), [("layer:0", 0), ("layer:1", 1), ("last", 2)]
)
def test_mixes_of_one_layer(layers: Tensor, mix: str, layer: int) -> None:
    alone = ScalarMix(3, MixSettings(mix=mix))
    assert torch.equal(alone(layers, MASK), layers[layer])
    assert alone.layer_weights().tolist() == [float(k == layer) for k in range(3)]


@pytest.mark.parametrize("layer_norm", [False, "batch"])
def test_equal_to_allennlps_scalar_mix(layers: Tensor, layer_norm: bool | str) -> None:
    theirs = AllenNLPScalarMix(
        3, do_layer_norm=bool(layer_norm), initial_scalar_parameters=[0.3, -1.0, 0.7]
    )
    theirs.gamma.data = torch.tensor([1.7])
    ours = with_weights(
        ScalarMix(3, MixSettings(layer_norm=layer_norm)), [0.3, -1.0, 0.7], gamma=1.7
    )
    clean = layers.masked_fill(~MASK[None, :, :, None], 0.0)
    torch.testing.assert_close(
        ours(layers, MASK)[MASK], theirs(list(clean), MASK)[MASK], atol=1e-5, rtol=1e-5
    )


def test_the_penalty_is_on_the_weights_before_the_softmax() -> None:
    mix = with_weights(ScalarMix(3, MixSettings(l2=0.1)), [1.0, -2.0, 3.0], gamma=9.0)
    penalty = mix.penalty()
    assert penalty.item() == pytest.approx(1.4)
    penalty.backward()
    assert mix.weights.grad.tolist() == pytest.approx([0.2, -0.4, 0.6])
    assert mix.gamma.grad is None
    assert ScalarMix(3, MixSettings(mix="last", l2=0.1)).penalty().item() == 0


def test_layer_norm_over_a_sentence_equals_numpy(layers: Tensor) -> None:
    values, expected = layers.double().numpy(), np.zeros(layers.shape)
    for layer in range(len(values)):
        for row, length in enumerate(LENGTHS):
            if length:
                own = values[layer, row, :length]
                expected[layer, row, :length] = (own - own.mean()) / np.sqrt(
                    own.var() + 1e-12
                )
    found = normalize(layers, MASK, over_batch=False)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)
    mixed = ScalarMix(3, MixSettings(layer_norm="sentence"))(layers, MASK)
    np.testing.assert_allclose(mixed.detach().numpy(), expected.mean(0), atol=1e-5)


@pytest.mark.parametrize("over_batch", [True, False])
def test_layer_norm_of_one_number_is_0(over_batch: bool) -> None:
    one = torch.full((1, 1, 1, 1), 3.0)
    mask = torch.ones(1, 1, dtype=torch.bool)
    assert normalize(one, mask, over_batch=over_batch).item() == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_sums_over_a_long_sentence_are_in_float32(dtype: torch.dtype) -> None:
    values, mask = (
        torch.randn(1, 1, 200, 1024) * 3.0,
        torch.ones(1, 200, dtype=torch.bool),
    )  # more than 65504 numbers
    found = normalize(values.to(dtype), mask, over_batch=False)
    assert found.dtype == dtype
    torch.testing.assert_close(
        found.float(), normalize(values, mask, over_batch=False), atol=0.01, rtol=0.01
    )


@pytest.mark.parametrize(
    "changes",
    [{"mix": "layer:"}, {"mix": "layer:-1"}, {"mix": "layer:3"}, {"layer_norm": True}],
)
def test_invalid_values(changes: dict[str, Any]) -> None:
    ((key, value),) = changes.items()
    with pytest.raises(InputError, match=f"{key}: expected .*, got {value!r}"):
        ScalarMix(3, MixSettings(**changes))
