"""Biattention and pooling of padded batches against single texts."""

import pytest
import torch
from torch import Tensor

from elmo_tasks.sst.biattention import MultiPooling

LENGTHS = [4, 1, 3]
MASK = torch.arange(4)[None] < torch.tensor(LENGTHS)[:, None]  # [3, 4]


@pytest.fixture
def inputs() -> Tensor:
    """[3, 4, 5]; large values at padding."""
    inputs = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(1))
    return inputs.masked_fill(~MASK[:, :, None], 50.0)


@pytest.mark.parametrize("padding", [50.0, torch.inf, torch.nan])
def test_pooling(inputs: Tensor, padding: float) -> None:
    pool = MultiPooling(5)
    pooled = pool(inputs.masked_fill(~MASK[:, :, None], padding), MASK)
    assert pooled.shape == (3, pool.get_output_dim()) == (3, 20)
    for row, length in enumerate(LENGTHS):
        text = inputs[row, :length]
        weighted = pool.score(text)[:, 0].softmax(0) @ text
        expected = torch.cat([text.max(0).values, text.min(0).values, text.mean(0), weighted])
        assert torch.allclose(pooled[row], expected, atol=1e-5)


def test_low_attention_scores_do_not_lose_to_padding(inputs: Tensor) -> None:
    pool = MultiPooling(5)
    with torch.no_grad():
        pool.score.weight.zero_()
        pool.score.bias.fill_(-500.0)
    assert torch.allclose(pool(inputs, MASK)[2, 15:], inputs[2, :3].mean(0), atol=1e-6)
