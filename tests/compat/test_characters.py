"""AllenNLP's character CNN gives the same results in float32, and correct ones in other dtypes."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from allennlp.modules.seq2vec_encoders import CnnEncoder, cnn_encoder

WIDTHS = (2, 4)
LENGTHS = torch.tensor([5, 3, 1, 4])  # the second and third are shorter than one or both filters
MASK = (torch.arange(5) < LENGTHS[:, None]).long()


@pytest.fixture
def original() -> Callable[..., Any]:
    """AllenNLP's own `forward`, from its source: the plugin has replaced it in the class."""
    names: dict[str, Any] = {}
    exec(inspect.getsource(cnn_encoder).replace('@Seq2VecEncoder.register("cnn")\n', ""), names)
    forward: Callable[..., Any] = names["CnnEncoder"].forward
    return forward


@pytest.mark.parametrize("keys", [{}, {"output_dim": 6}, {"conv_layer_activation": torch.tanh}])
def test_float32_is_unchanged(original: Callable[..., Any], keys: dict[str, Any]) -> None:
    encoder, tokens = CnnEncoder(3, 7, WIDTHS, **keys), torch.randn(4, 5, 3, requires_grad=True)
    for mask in (MASK, MASK.bool(), None):
        gradients = []
        for forward in (original, CnnEncoder.forward):
            found = forward(encoder, tokens, mask)
            gradients.append((found, *torch.autograd.grad(found.square().sum(), [tokens, *encoder.parameters()])))
        assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_dtypes_are_close(dtype: torch.dtype) -> None:
    encoder, tokens = CnnEncoder(3, 7, WIDTHS), torch.randn(4, 5, 3)
    expected = encoder(tokens, MASK)
    with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float64):
        torch.testing.assert_close(encoder(tokens, MASK).float(), expected, atol=0.03, rtol=0.0)
    found = encoder.to(dtype)(tokens.to(dtype), MASK)
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), expected, atol=0.03, rtol=0.0)
    assert not found[2].any()
