"""
The character encoder gives AllenNLP's results in float32, and correct ones in other
dtypes.
"""

from typing import Any

import pytest
import torch
from allennlp.modules.seq2vec_encoders import CnnEncoder

from elmo_tasks.nn.character_cnn import PaddedCnn

WIDTHS = (2, 4)
LENGTHS = torch.tensor([5, 3, 1, 4])
"""The second and third word are shorter than one or both filters."""
MASK = (torch.arange(5) < LENGTHS[:, None]).long()


@pytest.mark.parametrize(
    "keys", [{}, {"output_dim": 6}, {"conv_layer_activation": torch.tanh}]
)
def test_float32_is_that_of_allennlp(keys: dict[str, Any]) -> None:
    torch.manual_seed(1)
    theirs = CnnEncoder(3, 7, WIDTHS, **keys)
    torch.manual_seed(1)
    ours = PaddedCnn(3, 7, WIDTHS, **keys)
    tokens = torch.randn(4, 5, 3, requires_grad=True)
    for mask in (MASK, MASK.bool(), None):
        expected = features_and_gradients(theirs, tokens, mask)
        found = features_and_gradients(ours, tokens, mask)
        for one, other in zip(found, expected, strict=True):
            assert torch.equal(one, other)
    assert ours.state_dict().keys() == theirs.state_dict().keys()


def features_and_gradients(
    encoder: CnnEncoder, tokens: torch.Tensor, mask: torch.Tensor | None
) -> list[torch.Tensor]:
    """The output, and the gradients of the input and the parameters."""
    features = encoder(tokens, mask)
    variables = [tokens] + list(encoder.parameters())
    return [features] + list(torch.autograd.grad(features.square().sum(), variables))
