"""Accuracy and recall by hand, and over several processes."""

from collections import Counter
from typing import Any

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


def test_processes_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    def gather(gathered: list[Any], own: Any) -> None:
        gathered[:] = [own, Counter({("contradiction", "neutral"): 2})]

    monkeypatch.setattr("elmo_tasks.training.distributed.is_distributed", lambda: True)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 2)
    monkeypatch.setattr("torch.distributed.all_gather_object", gather)
    metric = EntailmentAccuracy()
    metric(["neutral", "neutral"], ["neutral", "entailment"])
    recalls = {"recall-contradiction": 0.0, "recall-entailment": 0.0, "recall-neutral": 1.0}
    assert metric.get_metric() == {"accuracy": 0.25, **recalls}
