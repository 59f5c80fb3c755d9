"""Accuracy and recall by hand, and over several processes."""

import pytest

from elmo_tasks.snli.metric import EntailmentAccuracy


def test_scores_by_hand() -> None:
    metric = EntailmentAccuracy()
    assert metric.get_metric() == {"accuracy": 0.0}
    metric(["entailment", "neutral", "entailment"], ["entailment", "entailment", "entailment"])
    metric(["contradiction"], ["neutral"])
    with pytest.raises(ValueError, match="expected 2 predictions, got 1"):
        metric(["neutral"], ["neutral", "neutral"])
    expected = {"accuracy": 0.5, "recall-entailment": pytest.approx(2 / 3), "recall-neutral": 0.0}
    assert metric.get_metric() == expected and metric.total == 4
    assert metric.get_metric(reset=True) == expected
    assert metric.get_metric() == {"accuracy": 0.0}
