"""Spans of a document against loops over its words."""

import pytest
import torch
from torch import Tensor, nn

from elmo_tasks.coref.spans import SpanScorer

LENGTHS = torch.tensor([4, 1, 6])
WIDTH = 3


@pytest.fixture
def scorer() -> SpanScorer:
    made = SpanScorer(encoded_size=5, value_size=7, max_width=WIDTH, feature_size=2, hidden_size=6, dropout=0.3)
    return made.eval()


def span_vector(scorer: SpanScorer, encoded: Tensor, values: Tensor, first: int, width: int) -> Tensor:
    words = slice(first, first + width + 1)
    head = scorer.attention(encoded[words])[:, 0].softmax(0) @ values[words]
    return torch.cat([encoded[first], encoded[first + width], scorer.widths.weight[width], head])


def network(scorer: SpanScorer, vector: Tensor) -> Tensor:
    """The feed-forward network on a concatenated vector."""
    linear = [module for module in scorer.score.rest if isinstance(module, nn.Linear)]
    return linear[1](linear[0](scorer.score.first(vector).relu()).relu())[0]


def test_vectors_and_scores(scorer: SpanScorer) -> None:
    encoded, values = torch.randn(11, 5), torch.randn(11, 7)
    grid = scorer(encoded, values, LENGTHS)
    places = grid.mask.nonzero()
    assert len(places) == (4 + 3 + 2) + 1 + (6 + 5 + 4)
    vectors = scorer.vectors(grid, encoded, values, places)
    for (n, w), vector in zip(places.tolist(), vectors, strict=True):
        expected = span_vector(scorer, encoded, values, n, w)
        assert torch.allclose(vector, expected, atol=1e-6)
        assert torch.allclose(grid.scores[n, w], network(scorer, expected), atol=1e-6)
