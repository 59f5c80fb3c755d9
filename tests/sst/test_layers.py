"""Pooling and the maxout head against loops."""

import pytest
import torch
from torch import nn

from elmo_tasks.tasks.sst.layers import MaxoutHead, MultiPooling

LENGTHS = [4, 1, 3]
MASK = torch.arange(4)[None] < torch.tensor(LENGTHS)[:, None]  # [3, 4]


@pytest.mark.parametrize("bias", [0.0, -500.0])
@pytest.mark.parametrize("padding", [50.0, torch.inf, torch.nan])
def test_pooling(padding: float, bias: float) -> None:
    pool, inputs = MultiPooling(5), torch.randn(3, 4, 5).masked_fill(~MASK[:, :, None], padding)
    pool.score.bias.data.fill_(bias)
    pooled = pool(inputs, MASK)
    assert pooled.shape == (3, pool.get_output_dim()) == (3, 20)
    for row, length in enumerate(LENGTHS):
        text = inputs[row, :length]
        weighted = pool.score(text)[:, 0].softmax(0) @ text
        expected = torch.cat([text.max(0).values, text.min(0).values, text.mean(0), weighted])
        assert torch.allclose(pooled[row], expected, atol=1e-5)


def test_maxout_layers() -> None:
    part = MaxoutHead(input_dim=5, classes=2, pool_size=3, hidden_sizes=[4, 3], dropout=[0.2, 0.3]).eval()
    inputs = torch.randn(3, 5)
    linears = [module for module in part.modules() if isinstance(module, nn.Linear)]
    assert [layer.out_features for layer in linears] == [12, 9, 6]
    expected = inputs
    for layer in linears:
        values = layer(expected)
        expected = torch.stack([values[:, start : start + 3].amax(1) for start in range(0, values.shape[1], 3)], 1)
    assert torch.allclose(part(inputs), expected, atol=1e-6)
