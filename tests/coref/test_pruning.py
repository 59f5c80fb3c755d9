"""Pruning against a loop over the sorted spans."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from elmo_tasks.coref.pruning import prune_crossing_spans
from elmo_tasks.coref.spans import span_mask


def by_loop(scores: Tensor, mask: Tensor, limit: int) -> list[list[int]]:
    """The definition: spans from the best on, each refused that crosses one already taken."""
    spans = sorted(mask.nonzero().tolist(), key=lambda span: -scores[span[0], span[1]].item())
    taken: list[list[int]] = []
    for span in spans:
        if len(taken) < limit and not any(cross(span, other) for other in taken):
            taken.append(span)
    return sorted(taken)


def cross(one: list[int], other: list[int]) -> bool:
    words, others = (set(range(n, n + w + 1)) for n, w in (one, other))
    return bool(words & others and words - others and others - words)


@st.composite
def grids(draw: st.DrawFn) -> tuple[Tensor, Tensor, int]:
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    width = draw(st.integers(1, 6))
    torch.manual_seed(draw(st.integers(0, 10**6)))
    mask = span_mask(torch.tensor(lengths), width)
    scores = torch.randn(mask.shape)
    if draw(st.booleans()):
        scores = scores.round()  # ties
    return scores, mask, draw(st.integers(1, 30))


@settings(deadline=None, max_examples=60)
@given(grid=grids())
def test_equals_the_loop(grid: tuple[Tensor, Tensor, int]) -> None:
    scores, mask, limit = grid
    assert prune_crossing_spans(scores, mask, limit=limit).tolist() == by_loop(scores, mask, limit)


@pytest.mark.parametrize(
    ("scores", "limit", "kept"),
    [
        # Spans by first word and width: [0], [0 1]; [1], [1 2]; [2].
        ([[0.0, 9.0], [0.0, 8.0], [1.0, 7.0]], 5, [[0, 0], [0, 1], [1, 0], [2, 0]]),
        ([[0.0, 7.0], [0.0, 8.0], [1.0, 9.0]], 5, [[0, 0], [1, 0], [1, 1], [2, 0]]),
        ([[0.0, 9.0], [0.0, 8.0], [1.0, 7.0]], 2, [[0, 1], [2, 0]]),
    ],
)
def test_by_hand(scores: list[list[float]], limit: int, kept: list[list[int]]) -> None:
    mask = span_mask(torch.tensor([3]), 2)
    assert prune_crossing_spans(torch.tensor(scores), mask, limit=limit).tolist() == kept


def test_a_chain_in_which_each_span_crosses_the_next() -> None:
    mask = span_mask(torch.tensor([40]), 2)
    scores = torch.stack([torch.full((40,), -99.0), -torch.arange(40.0)], 1)
    kept = prune_crossing_spans(scores, mask, limit=20).tolist()
    assert kept == [[n, 1] for n in range(0, 40, 2)]


def test_scores_may_want_a_gradient_and_may_be_infinite() -> None:
    mask = span_mask(torch.tensor([4]), 3)
    scores = torch.full(mask.shape, -torch.inf, requires_grad=True)
    assert len(prune_crossing_spans(scores, mask, limit=2)) == 2
