"""Biattention and the four poolings against loops over plain numbers, with padding that must not count."""

import math

import pytest
import torch
from torch import Tensor

from elmo_tasks.sst.biattention import MultiPooling, biattend, compare

LENGTHS = [4, 1, 3]


@pytest.fixture
def inputs() -> Tensor:
    """[3, 4, 5]; what stands in the padding is as large as can be harmful."""
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(3, 4, 5, generator=generator)
    return inputs.masked_fill(~tokens()[:, :, None], 50.0)


def tokens() -> Tensor:
    return torch.arange(4)[None] < torch.tensor(LENGTHS)[:, None]  # [3, 4]


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def softmax(scores: list[float]) -> list[float]:
    powers = [math.exp(score - max(scores)) for score in scores]
    return [power / sum(powers) for power in powers]


def mixed(weights: list[float], vectors: list[list[float]]) -> list[float]:
    return [dot(weights, list(column)) for column in zip(*vectors, strict=True)]


def test_biattention_by_loops(inputs: Tensor) -> None:
    attended, compared = 0, biattend(inputs, tokens())
    for row, length in enumerate(LENGTHS):
        text = inputs[row, :length].tolist()
        for place, vector in enumerate(text):
            expected = mixed(softmax([dot(vector, other) for other in text]), text)
            assert compared[row, place].tolist() == pytest.approx(expected, abs=1e-5)
            attended += 1
    assert attended == sum(LENGTHS)


def test_comparison_by_hand() -> None:
    x, c = torch.tensor([[[1.0, -2.0]]]), torch.tensor([[[3.0, 0.5]]])
    assert compare(x, c).tolist() == [[[1.0, -2.0, -2.0, -2.5, 3.0, -1.0]]]


def pooled_by_loops(pool: MultiPooling, text: list[list[float]]) -> list[float]:
    weight, bias = pool.score.weight[0].tolist(), pool.score.bias.item()
    columns = list(zip(*text, strict=True))
    weights = softmax([dot(weight, vector) + bias for vector in text])
    means = [sum(column) / len(column) for column in columns]
    return [*map(max, columns), *map(min, columns), *means, *mixed(weights, text)]


def test_poolings_by_loops(inputs: Tensor) -> None:
    torch.manual_seed(2)
    pool = MultiPooling(5)
    pooled = pool(inputs, tokens())
    assert pooled.shape == (3, pool.get_output_dim()) == (3, 20)
    for row, length in enumerate(LENGTHS):
        expected = pooled_by_loops(pool, inputs[row, :length].tolist())
        assert pooled[row].tolist() == pytest.approx(expected, abs=1e-5)


def test_very_low_attention_scores_do_not_lose_to_padding(inputs: Tensor) -> None:
    pool = MultiPooling(5)
    with torch.no_grad():
        pool.score.weight.zero_()
        pool.score.bias.fill_(-500.0)
    pooled = pool(inputs, tokens())
    assert torch.allclose(pooled[2, 15:], inputs[2, :3].mean(0), atol=1e-6)


@pytest.mark.parametrize("padding", [float("inf"), float("-inf"), float("nan")])
def test_poolings_ignore_what_is_no_number_in_the_padding(inputs: Tensor, padding: float) -> None:
    pool = MultiPooling(5)
    other = inputs.masked_fill(~tokens()[:, :, None], padding)
    assert torch.equal(pool(other, tokens()), pool(inputs, tokens()))
