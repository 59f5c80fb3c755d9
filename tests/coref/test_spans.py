"""Spans of a document against loops over its words."""

import pytest
import torch
from torch import Tensor, nn

from elmo_tasks.coref.spans import SpanScorer, span_mask

LENGTHS = torch.tensor([4, 1, 6])
WIDTH = 3


@pytest.fixture
def scorer() -> SpanScorer:
    made = SpanScorer(encoded_size=5, value_size=7, max_width=WIDTH, feature_size=2, hidden_size=6, dropout=0.3)
    return made.eval()


def vector_by_loop(scorer: SpanScorer, encoded: Tensor, values: Tensor, first: int, width: int) -> Tensor:
    last = first + width
    weights = torch.stack([scorer.attention(encoded[word])[0] for word in range(first, last + 1)]).softmax(0)
    head = sum((weight * values[first + place] for place, weight in enumerate(weights)), torch.zeros(7))
    return torch.cat([encoded[first], encoded[last], scorer.widths.weight[width], head])


def network(scorer: SpanScorer, vector: Tensor) -> Tensor:
    """The feed-forward network over a whole vector."""
    linear = [module for module in scorer.score.rest if isinstance(module, nn.Linear)]
    return linear[1](linear[0](scorer.score.first(vector).relu()).relu())[0]


def test_the_mask_by_loop() -> None:
    mask = span_mask(LENGTHS, WIDTH)
    sentence_of = [0] * 4 + [1] + [2] * 6
    for n in range(11):
        for w in range(WIDTH):
            within = n + w < 11 and sentence_of[n] == sentence_of[n + w]
            assert mask[n, w] == within, (n, w)


def test_vectors_and_scores_by_loop(scorer: SpanScorer) -> None:
    encoded, values = torch.randn(11, 5), torch.randn(11, 7)
    grid = scorer(encoded, values, LENGTHS)
    places = grid.mask.nonzero()
    assert len(places) == (4 + 3 + 2) + 1 + (6 + 5 + 4)
    vectors = scorer.vectors(grid, encoded, values, places)
    assert vectors.shape == (len(places), scorer.output_size)
    for (n, w), vector in zip(places.tolist(), vectors, strict=True):
        expected = vector_by_loop(scorer, encoded, values, n, w)
        assert torch.allclose(vector, expected, atol=1e-6)
        assert torch.allclose(grid.scores[n, w], network(scorer, expected), atol=1e-6)


def test_a_span_sees_nothing_behind_its_end(scorer: SpanScorer) -> None:
    encoded, values = torch.randn(11, 5), torch.randn(11, 7)
    before = scorer(encoded, values, LENGTHS)
    encoded[4:], values[4:] = torch.randn(7, 5) * 9, torch.randn(7, 7) * 9
    after = scorer(encoded, values, LENGTHS)
    inside = before.mask[:4]
    assert torch.allclose(before.scores[:4][inside], after.scores[:4][inside], atol=1e-6)


def test_score_and_vector_share_the_dropped_width(scorer: SpanScorer) -> None:
    scorer.train()
    encoded, values = torch.randn(11, 5), torch.randn(11, 7)
    grid = scorer(encoded, values, LENGTHS)
    places = grid.mask.nonzero()
    vectors = scorer.vectors(grid, encoded, values, places)
    assert torch.equal(vectors[:, 10:12], grid.widths[places[:, 0], places[:, 1]])
    assert (grid.widths == 0).float().mean().item() == pytest.approx(0.3, abs=0.2)


def test_gradients_everywhere(scorer: SpanScorer) -> None:
    encoded, values = torch.randn(11, 5, requires_grad=True), torch.randn(11, 7, requires_grad=True)
    grid = scorer(encoded, values, LENGTHS)
    vectors = scorer.vectors(grid, encoded, values, grid.mask.nonzero())
    (grid.scores[grid.mask].sum() + vectors.pow(2).sum()).backward()
    for name, tensor in [*scorer.named_parameters(), ("h", encoded), ("x", values)]:
        assert tensor.grad is not None and tensor.grad.any(), name
