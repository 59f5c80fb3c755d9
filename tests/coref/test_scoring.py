"""
Scores of spans and of pairs against loops, pruning against its definition, and the loss
by hand.
"""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from elmo_tasks.tasks.coref.antecedents import (
    ROWS_AT_ONCE,
    AntecedentScorer,
    TopSpans,
)
from elmo_tasks.tasks.coref.spans import SpanScorer, prune_crossing_spans, span_mask

LENGTHS = torch.tensor([4, 1, 6])


def network(score: Any, vector: Tensor) -> Tensor:
    """The feed-forward network on a concatenated vector."""
    linear = [module for module in score.rest if isinstance(module, nn.Linear)]
    return linear[1](linear[0](score.first(vector).relu()).relu())[0]


def span_vector(
    scorer: SpanScorer, encoded: Tensor, values: Tensor, first: int, width: int
) -> Tensor:
    words = slice(first, first + width + 1)
    head = scorer.attention(encoded[words])[:, 0].softmax(0) @ values[words]
    return torch.cat(
        [encoded[first], encoded[first + width], scorer.widths.weight[width], head]
    )


def test_vectors_and_scores() -> None:
    sizes = {"encoded_size": 5, "value_size": 7, "feature_size": 2, "hidden_size": 6}
    scorer = SpanScorer(max_width=3, dropout=0.3, **sizes).eval()
    encoded, values = torch.randn(11, 5), torch.randn(11, 7)
    grid = scorer(encoded, values, LENGTHS)
    places = grid.mask.nonzero()
    assert len(places) == (4 + 3 + 2) + 1 + (6 + 5 + 4)
    vectors = scorer.vectors(grid, encoded, values, places)
    for (n, w), vector in zip(places.tolist(), vectors, strict=True):
        expected = span_vector(scorer, encoded, values, n, w)
        assert torch.allclose(vector, expected, atol=1e-6)
        assert torch.allclose(
            grid.scores[n, w], network(scorer.score, expected), atol=1e-6
        )


def by_definition(scores: Tensor, mask: Tensor, limit: int) -> list[list[int]]:
    spans = sorted(
        mask.nonzero().tolist(), key=lambda span: -scores[span[0], span[1]].item()
    )
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
    assert prune_crossing_spans(scores, mask, limit=limit).tolist() == by_definition(
        scores, mask, limit
    )


def make_scorer(max_antecedents: int = 4) -> AntecedentScorer:
    torch.manual_seed(3)
    sizes = {"span_size": 5, "genres": 2, "feature_size": 3, "hidden_size": 6}
    return AntecedentScorer(
        max_antecedents=max_antecedents, dropout=0.2, **sizes
    ).eval()


def make_spans(count: int) -> TopSpans:
    speakers = torch.arange(count) // 3 % 2
    return TopSpans(
        torch.randn(count, 5), torch.randn(count), speakers, torch.tensor(2)
    )


def bucket(distance: int) -> int:
    """0 to 4, 5-7, 8-15, 16-31, 32-63, 64 and more."""
    return distance if distance <= 4 else min(9, int(math.log2(distance)) + 3)


def score_by_loop(scorer: AntecedentScorer, spans: TopSpans, i: int, j: int) -> Tensor:
    same = int(spans.speakers[i] == spans.speakers[j])
    tables = (
        scorer.same_speaker.weight[same],
        scorer.genre.weight[spans.genre],
        scorer.distance.weight[bucket(i - j)],
    )
    g_i, g_j = spans.vectors[i], spans.vectors[j]
    pair = torch.cat([g_i, g_j, g_i * g_j, *tables])
    return spans.scores[i] + spans.scores[j] + network(scorer.score, pair)


def all_scores(scorer: AntecedentScorer, spans: TopSpans) -> Tensor:
    """[K, K], assembled from the blocks."""
    count = len(spans.vectors)
    whole = torch.full((count, count), -torch.inf)
    for scores, rows, columns in scorer(spans):
        whole[rows, columns] = scores
    return whole


@pytest.mark.parametrize("count", [1, 11, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 1])
def test_scores_by_loop(count: int) -> None:
    """Of one block of rows and of several, the last of which has one row."""
    scorer, spans = make_scorer(), make_spans(count)
    whole = all_scores(scorer, spans)
    for i in range(count):
        for j in range(count):
            if 1 <= i - j <= 4:
                assert torch.allclose(
                    whole[i, j], score_by_loop(scorer, spans, i, j), atol=1e-5
                ), (i, j)
            else:
                assert whole[i, j] == -torch.inf, (i, j)


def test_distance_buckets() -> None:
    scorer, spans = make_scorer(max_antecedents=250), make_spans(70)
    whole = all_scores(scorer, spans)
    for j in (0, 5, 6, 37, 38, 53, 54, 61, 62, 64, 65, 68):
        assert torch.allclose(
            whole[69, j], score_by_loop(scorer, spans, 69, j), atol=1e-5
        ), j
