"""EM and F1 by hand and against the official script."""

import random

import pytest
from transformers.data.metrics.squad_metrics import (
    compute_exact,
    compute_f1,
    get_tokens,
)

from elmo_tasks.tasks.squad.metric import SquadEmAndF1, exact_match, f1


def scores(predicted: str, *golds: str) -> dict[str, float]:
    metric = SquadEmAndF1()
    metric([predicted], [golds])
    return metric.get_metric()


def test_em_and_f1_use_the_best_gold_answer_separately() -> None:
    assert scores("the", "a", "the end of it") == {"em": 1.0, "f1": 0.0}
    assert scores("black cat", "black dog", "a black cat sat", "cat")[
        "f1"
    ] == pytest.approx(0.8)


def test_mean_is_over_questions() -> None:
    metric = SquadEmAndF1()
    assert metric.get_metric() == {"em": 0.0, "f1": 0.0}
    metric(["x", "y", "z"], [["x"], ["q"], ["q"]])
    metric(["x"], [["x"]])
    assert metric.get_metric(reset=True) == {"em": 0.5, "f1": 0.5}
    assert metric.get_metric() == {"em": 0.0, "f1": 0.0}


def official(predicted: str, gold: str) -> tuple[float, float]:
    """
    The official script of v2.0, which differs from that of v1.1 for answers without
    words.
    """
    has_words = get_tokens(predicted) and get_tokens(gold)
    return compute_exact(gold, predicted), compute_f1(
        gold, predicted
    ) if has_words else 0.0


def test_equals_the_official_definition_on_random_answers() -> None:
    rng = random.Random(7)
    pieces = [
        "the",
        "The",
        "a",
        "An",
        "cat",
        "dog",
        " é",
        "ß",
        "42",
        "-",
        ".",
        "'s",
        "“",
        " ",
        "\u00a0",
        "\n",
        "_",
    ]
    seen = set()
    for _ in range(3000):
        predicted, gold = (
            "".join(rng.choices(pieces, k=rng.randrange(14))) for _ in range(2)
        )
        expected = official(predicted, gold)
        assert (exact_match(predicted, gold), f1(predicted, gold)) == pytest.approx(
            expected
        ), (predicted, gold)
        seen.add(expected)
    assert len(seen) > 10
