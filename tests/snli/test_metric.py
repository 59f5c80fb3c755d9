"""Accuracy against counts by hand, and over several processes."""

import json
from collections import Counter
from typing import Any

import pytest
from allennlp.training.metrics import Metric

from elmo_tasks.snli.metric import EntailmentAccuracy


def filled() -> EntailmentAccuracy:
    """Entailment: 2 of 3 found; neutral: 0 of 1; nothing is contradiction, though that was predicted."""
    metric = EntailmentAccuracy()
    metric(["entailment", "neutral", "entailment"], ["entailment", "entailment", "entailment"])
    metric(["contradiction"], ["neutral"])
    return metric


def test_scores_by_hand() -> None:
    scores = filled().get_metric()
    assert scores == {"accuracy": 0.5, "recall-entailment": pytest.approx(2 / 3), "recall-neutral": 0.0}
    assert {type(value) for value in scores.values()} == {float}
    assert EntailmentAccuracy().get_metric() == {"accuracy": 0.0}


def test_counts_are_of_the_corpus_not_means_of_batches() -> None:
    metric = EntailmentAccuracy()
    metric(["neutral"] * 3, ["neutral"] * 3)
    metric(["neutral"], ["entailment"])
    assert metric.get_metric()["accuracy"] == 0.75


def test_report_gives_counts_fit_for_json() -> None:
    report = filled().report()
    assert report == {"entailment": {"entailment": 2, "neutral": 1}, "neutral": {"contradiction": 1}}
    assert json.loads(json.dumps(report)) == report


def test_reset_only_when_asked() -> None:
    metric = filled()
    first = metric.get_metric()
    assert metric.get_metric(reset=True) == first
    assert metric.get_metric() == {"accuracy": 0.0}
    assert metric.report() == {}


def test_a_refused_call_counts_nothing() -> None:
    metric = EntailmentAccuracy()
    with pytest.raises(ValueError, match="1 predictions for 2 gold labels"):
        metric(["neutral"], ["neutral", "neutral"])
    assert metric.report() == {}


def test_registered_name() -> None:
    assert Metric.by_name("elmo_tasks_entailment_accuracy") is EntailmentAccuracy


def test_processes_add_their_counts_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def gather(gathered: list[Any], own: Any) -> None:
        gathered[:] = [own, Counter({("contradiction", "neutral"): 2})]

    monkeypatch.setattr("elmo_tasks.training.distributed.is_distributed", lambda: True)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 2)
    monkeypatch.setattr("torch.distributed.all_gather_object", gather)
    metric = EntailmentAccuracy()
    metric(["neutral", "neutral"], ["neutral", "entailment"])
    assert metric.get_metric() == {
        "accuracy": 0.25,
        "recall-contradiction": 0.0,
        "recall-entailment": 0.0,
        "recall-neutral": 1.0,
    }
