"""Pooling and the maxout head against loops."""

import pytest
import torch

from elmo_tasks.tasks.sst.layers import MultiPooling

LENGTHS = [4, 1, 3]
MASK = torch.arange(4)[None] < torch.tensor(LENGTHS)[:, None]  # [3, 4]


@pytest.mark.parametrize("bias", [0.0, -500.0])
@pytest.mark.parametrize("padding", [50.0, torch.inf, torch.nan])
def test_pooling(padding: float, bias: float) -> None:
    pool, inputs = (
        MultiPooling(5),
        torch.randn(3, 4, 5).masked_fill(~MASK[:, :, None], padding),
    )
    pool.score.bias.data.fill_(bias)
    pooled = pool(inputs, MASK)
    assert pooled.shape == (3, pool.get_output_dim()) == (3, 20)
    for row, length in enumerate(LENGTHS):
        text = inputs[row, :length]
        weighted = pool.score(text)[:, 0].softmax(0) @ text
        expected = torch.cat(
            [text.max(0).values, text.min(0).values, text.mean(0), weighted]
        )
        assert torch.allclose(pooled[row], expected, atol=1e-5)
