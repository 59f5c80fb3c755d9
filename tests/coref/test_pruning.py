"""Pruning against its definition."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from elmo_tasks.coref.pruning import prune_crossing_spans
from elmo_tasks.coref.spans import span_mask


def by_definition(scores: Tensor, mask: Tensor, limit: int) -> list[list[int]]:
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
    torch.manual_seed(draw(st.integers(0, 10**6)))
    mask = span_mask(torch.tensor(lengths), draw(st.integers(1, 6)))
    scores = torch.randn(mask.shape)
    if draw(st.booleans()):
        scores = scores.round()  # ties
    return scores, mask, draw(st.integers(1, 30))


@settings(deadline=None, max_examples=100)
@given(grid=grids())
def test_equals_the_definition(grid: tuple[Tensor, Tensor, int]) -> None:
    scores, mask, limit = grid
    assert prune_crossing_spans(scores, mask, limit=limit).tolist() == by_definition(scores, mask, limit)
