"""Span decoding against enumeration."""

import math

import pytest
import torch

from elmo_tasks.squad.spans import best_spans


def enumerated(starts: list[float], ends: list[float], max_length: int) -> list[tuple[float, int, int]]:
    """All legal spans of one passage, the best first."""
    pairs = [(i, j) for i in range(len(starts)) for j in range(i, min(len(starts), i + max_length))]
    return sorted(((starts[i] + ends[j], i, j) for i, j in pairs), reverse=True)


@pytest.mark.parametrize("max_length", [1, 2, 3, 17])
def test_equals_enumeration(max_length: int) -> None:
    lengths = [1, 2, 5, 7, 7]
    mask = torch.arange(7)[None] < torch.tensor(lengths)[:, None]
    starts, ends = torch.randn(2, 5, 7, dtype=torch.float64)
    found = best_spans(starts, ends, mask, max_length=max_length, count=6)
    for row, length in enumerate(lengths):
        spans = enumerated(starts[row, :length].tolist(), ends[row, :length].tolist(), max_length)
        total = sum(math.exp(score) for score, _, _ in spans)
        for place, (score, first, last) in enumerate(spans[:6]):
            assert (found.starts[row, place].item(), found.ends[row, place].item()) == (first, last)
            assert found.scores[row, place].item() == pytest.approx(score)
            assert found.probabilities[row, place].item() == pytest.approx(math.exp(score) / total)
        assert (found.scores[row, len(spans) :] == -torch.inf).all()
        assert not found.probabilities[row, len(spans) :].any()


@pytest.mark.parametrize(("distance", "legal"), [(16, True), (17, False)])
def test_seventeen_tokens_at_most(distance: int, legal: bool) -> None:
    starts, ends = torch.zeros(1, 30), torch.zeros(1, 30)
    starts[0, 4], ends[0, 4 + distance] = 5.0, 5.0
    found = best_spans(starts, ends, torch.ones(1, 30, dtype=torch.bool), max_length=17)
    assert (found.scores.item() == 10.0) == legal
    assert 0 <= found.ends.item() - found.starts.item() <= 16


def test_no_span_runs_backwards_or_into_the_padding() -> None:
    starts, ends = torch.tensor([[0.0, 9.0, 0.0, 99.0]]), torch.tensor([[9.0, 0.0, 1.0, 99.0]])
    found = best_spans(starts, ends, torch.tensor([[True, True, True, False]]), max_length=3)
    assert (found.starts.item(), found.ends.item(), found.scores.item()) == (1, 2, 10.0)


def test_more_spans_wanted_than_there_are() -> None:
    found = best_spans(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1, 2, dtype=torch.bool), max_length=2, count=9)
    assert (found.scores > -torch.inf).sum() == 3
    assert found.probabilities.sum().item() == pytest.approx(1.0)
