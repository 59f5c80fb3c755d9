"""The character encoder gives AllenNLP's results in float32, and correct ones in other dtypes."""

from typing import Any

import pytest
import torch
from allennlp.modules.seq2vec_encoders import CnnEncoder

from elmo_tasks.nn.character_cnn import PaddedCnn

WIDTHS = (2, 4)
LENGTHS = torch.tensor([5, 3, 1, 4])  # the second and third are shorter than one or both filters
MASK = (torch.arange(5) < LENGTHS[:, None]).long()


@pytest.mark.parametrize("keys", [{}, {"output_dim": 6}, {"conv_layer_activation": torch.tanh}])
def test_float32_is_that_of_allennlp(keys: dict[str, Any]) -> None:
    torch.manual_seed(1)
    theirs = CnnEncoder(3, 7, WIDTHS, **keys)
    torch.manual_seed(1)
    ours = PaddedCnn(3, 7, WIDTHS, **keys)
    tokens = torch.randn(4, 5, 3, requires_grad=True)
    for mask in (MASK, MASK.bool(), None):
        gradients = []
        for encoder in (theirs, ours):
            found = encoder(tokens, mask)
            gradients.append((found, *torch.autograd.grad(found.square().sum(), [tokens, *encoder.parameters()])))
        assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))
    assert ours.state_dict().keys() == theirs.state_dict().keys()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_dtypes_are_close(dtype: torch.dtype) -> None:
    encoder, tokens = PaddedCnn(3, 7, WIDTHS), torch.randn(4, 5, 3)
    expected = encoder(tokens, MASK)
    with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float64):
        torch.testing.assert_close(encoder(tokens, MASK).float(), expected, atol=0.03, rtol=0.0)
    found = encoder.to(dtype)(tokens.to(dtype), MASK)
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), expected, atol=0.03, rtol=0.0)
    assert not found[2].any()
