"""Pair scores against loops over pairs, and the loss by hand."""

import math

import pytest
import torch
from torch import Tensor, nn

from elmo_tasks.coref import antecedents
from elmo_tasks.coref.antecedents import AntecedentScorer, TopSpans, best_antecedents, marginal_loss


def make_scorer(max_antecedents: int = 4) -> AntecedentScorer:
    torch.manual_seed(3)
    sizes = {"span_size": 5, "genres": 2, "feature_size": 3, "hidden_size": 6}
    return AntecedentScorer(max_antecedents=max_antecedents, dropout=0.2, **sizes).eval()


def make_spans(count: int) -> TopSpans:
    speakers = torch.arange(count) // 3 % 2
    return TopSpans(torch.randn(count, 5), torch.randn(count), speakers, torch.tensor(2))


def bucket(distance: int) -> int:
    """0 to 4, 5-7, 8-15, 16-31, 32-63, 64 and more."""
    return distance if distance <= 4 else min(9, int(math.log2(distance)) + 3)


def score_by_loop(scorer: AntecedentScorer, spans: TopSpans, i: int, j: int) -> Tensor:
    same = int(spans.speakers[i] == spans.speakers[j])
    tables = scorer.same_speaker.weight[same], scorer.genre.weight[spans.genre], scorer.distance.weight[bucket(i - j)]
    g_i, g_j = spans.vectors[i], spans.vectors[j]
    pair = torch.cat([g_i, g_j, g_i * g_j, *tables])
    linear = [module for module in scorer.score.rest if isinstance(module, nn.Linear)]
    network = linear[1](linear[0](scorer.score.first(pair).relu()).relu())[0]
    return spans.scores[i] + spans.scores[j] + network


def all_scores(scorer: AntecedentScorer, spans: TopSpans) -> Tensor:
    """[K, K], assembled from the blocks."""
    count = len(spans.vectors)
    whole = torch.full((count, count), -torch.inf)
    for scores, rows, columns in scorer(spans):
        whole[rows, columns] = scores
    return whole


@pytest.mark.parametrize("rows_at_once", [1, 3, 64])
def test_scores_by_loop(rows_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(antecedents, "ROWS_AT_ONCE", rows_at_once)
    scorer, spans = make_scorer(), make_spans(11)
    whole = all_scores(scorer, spans)
    for i in range(11):
        for j in range(11):
            if 1 <= i - j <= 4:
                assert torch.allclose(whole[i, j], score_by_loop(scorer, spans, i, j), atol=1e-5), (i, j)
            else:
                assert whole[i, j] == -torch.inf, (i, j)


def test_distance_buckets() -> None:
    scorer, spans = make_scorer(max_antecedents=250), make_spans(70)
    whole = all_scores(scorer, spans)
    for j in (0, 5, 6, 37, 38, 53, 54, 61, 62, 64, 65, 68):
        assert torch.allclose(whole[69, j], score_by_loop(scorer, spans, 69, j), atol=1e-5), j


def test_the_loss_by_hand() -> None:
    scores = torch.tensor([[-torch.inf, -torch.inf], [1.0, -torch.inf], [0.5, -2.0]])
    gold = torch.tensor([[False, False], [True, False], [True, True]])
    e = math.exp
    expected = [0.0, -math.log(e(1) / (1 + e(1))), -math.log((e(0.5) + e(-2)) / (1 + e(0.5) + e(-2)))]
    assert marginal_loss(scores, gold).tolist() == pytest.approx(expected, abs=1e-6)
    none = marginal_loss(scores[2:], torch.tensor([[False, False]]))
    assert none.item() == pytest.approx(-math.log(1 / (1 + e(0.5) + e(-2))), abs=1e-6)


def test_antecedents_have_positive_scores() -> None:
    scores = torch.tensor([[-torch.inf, -torch.inf], [-0.1, -3.0], [0.0, -1.0], [0.2, 0.1], [0.1, 4.0]])
    assert best_antecedents(scores).tolist() == [-1, -1, -1, 0, 1]
