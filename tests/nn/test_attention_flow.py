"""Trilinear similarity, bidirectional attention and self-attention against loops."""

import math

import torch
from torch import Tensor, nn

from elmo_tasks.nn.attention import BiAttention, SelfAttention, Trilinear

WIDTH = 3


def wide(module: nn.Module) -> nn.Module:
    """The module with random parameters."""
    for parameter in module.parameters():
        parameter.data.normal_()
    return module


def similarity(similar: Trilinear, u: Tensor, v: Tensor) -> float:
    """The similarity of two vectors."""
    value = 0.0
    for d in range(WIDTH):
        value += similar.left[d].item() * u[d].item()
        value += similar.right[d].item() * v[d].item()
        value += similar.product[d].item() * u[d].item() * v[d].item()
    return value


def softmax(values: list[float]) -> list[float]:
    powers = [math.exp(value) for value in values]
    return [power / sum(powers) for power in powers]


def mean(weights: list[float], vectors: Tensor) -> Tensor:
    total = torch.zeros(WIDTH)
    for weight, vector in zip(weights, vectors, strict=True):
        total = total + weight * vector
    return total


def test_bi_attention_equals_loops() -> None:
    attention = BiAttention(WIDTH)
    wide(attention)
    passage = torch.randn(3, 5, WIDTH)
    question = torch.randn(3, 4, WIDTH)
    lengths = [5, 2, 1]
    question_lengths = [1, 4, 2]
    mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    question_mask = torch.arange(4)[None] < torch.tensor(question_lengths)[:, None]
    passage[~mask] = 0.5
    question[~question_mask] = 0.5
    attended, summary = attention(passage, mask, question, question_mask)
    assert attended.shape == (3, 5, WIDTH) and summary.shape == (3, WIDTH)
    for b, (t_end, u_end) in enumerate(zip(lengths, question_lengths, strict=True)):
        c = passage[b, :t_end]
        q = question[b, :u_end]
        scores = []
        for c_t in c:
            scores.append([similarity(attention.similarity, c_t, q_u) for q_u in q])
        q2c = mean(softmax([max(row) for row in scores]), c)
        for t, row in enumerate(scores):
            c2q = mean(softmax(row), q)
            torch.testing.assert_close(attended[b, t], c2q, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(summary[b], q2c, rtol=1e-4, atol=1e-5)


def test_self_attention_equals_loops() -> None:
    attention = SelfAttention(WIDTH)
    wide(attention)
    vectors, lengths = torch.randn(3, 5, WIDTH), [5, 3, 1]
    mask = torch.arange(5)[None] < torch.tensor(lengths)[:, None]
    vectors[~mask] = 50.0
    attended = attention(vectors, mask)
    for b, length in enumerate(lengths):
        row = vectors[b, :length]
        for t in range(length):
            others = [k for k in range(length) if k != t]
            scores = [attention.null_score.item()]
            for k in others:
                scores.append(similarity(attention.similarity, row[t], row[k]))
            expected = mean(softmax(scores)[1:], row[others])
            torch.testing.assert_close(attended[b, t], expected, rtol=1e-4, atol=1e-5)
