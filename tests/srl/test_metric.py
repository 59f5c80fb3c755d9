"""Argument scores by hand, V apart, and over several processes."""

import json

import pytest
import torch.distributed
from allennlp.training.metrics import Metric
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.srl.arguments import arguments_from_tags
from elmo_tasks.srl.metric import SrlF1


def counts(guesses: str, golds: str) -> tuple[int, int, int]:
    metric = SrlF1()
    metric([guesses.split()], [golds.split()])
    overall = metric.report()["overall"]
    return overall["correct"], overall["predicted"], overall["gold"]


@pytest.mark.parametrize(
    ("guesses", "golds", "expected"),
    [
        ("B-A0 I-A0 B-V", "B-A0 I-A0 B-V", (1, 1, 1)),
        ("B-A0 B-V O", "B-A0 I-A0 B-V", (0, 1, 1)),
        ("B-V O B-A1", "B-V O B-A1", (1, 1, 1)),
        ("B-A1 I-A1 B-V", "B-A0 I-A0 B-V", (0, 1, 1)),
        ("B-A1 B-V B-C-A1", "B-A1 B-V B-C-A1", (1, 1, 1)),
        ("B-A1 B-V O", "B-A1 B-V B-C-A1", (0, 1, 1)),
        ("B-A1 B-V B-A1", "B-A1 B-V B-C-A1", (0, 2, 1)),
        ("B-C-A1 B-V B-C-A1", "B-A1 B-V B-C-A1", (1, 1, 1)),
        ("B-C-A1 B-V O", "B-A1 B-V O", (1, 1, 1)),
        ("B-A1 B-C-A1 B-V", "B-A1 I-A1 B-V", (0, 1, 1)),
        ("B-R-A0 B-V O", "B-A0 B-V O", (0, 1, 1)),
        ("B-V I-V O", "B-V O B-C-V", (0, 0, 0)),
        ("O O B-C-V", "B-V O O", (0, 0, 0)),
        ("O O", "B-A1 O", (0, 0, 1)),
    ],
)
def test_by_hand(guesses: str, golds: str, expected: tuple[int, int, int]) -> None:
    assert counts(guesses, golds) == expected


LABELS = ("A0", "A1", "C-A0", "C-A1", "R-A0", "V", "C-V")
TAGS = st.sampled_from(["O", *(f"{letter}-{label}" for letter in "BI" for label in LABELS)])
CLOSE = st.lists(st.tuples(TAGS, st.none() | TAGS).map(lambda p: (p[0], p[1] or p[0])), max_size=9)


@settings(deadline=None)
@given(corpus=st.lists(CLOSE, max_size=4))
def test_overall_is_the_sum_of_the_labels_but_v(corpus: list[list[tuple[str, str]]]) -> None:
    metric, correct, predicted, gold = SrlF1(), 0, 0, 0
    for pairs in corpus:
        sides = [[pair[side] for pair in pairs] for side in (0, 1)]
        metric([sides[0]], [sides[1]])
        listed = [[a for a in arguments_from_tags(side) if a.label != "V"] for side in sides]
        correct += sum(argument in listed[1] for argument in listed[0])
        predicted, gold = predicted + len(listed[0]), gold + len(listed[1])
    report = metric.report()
    assert report["overall"] == {"correct": correct, "predicted": predicted, "gold": gold}
    assert sum(row["gold"] for label, row in report["labels"].items() if label != "V") == gold
    assert not any(label.startswith("C-") for label in report["labels"])


def filled() -> SrlF1:
    """A0: 1 right of 2 found and 1 there; A1: 0 of 0 and 2; R-A0: 0 of 1 and 0; V: 1 of 1 and 2."""
    metric = SrlF1()
    metric([["B-A0", "O", "O"], []], [["B-A0", "B-A1", "B-V"], []])
    metric([["B-A0", "B-V", "B-R-A0"]], [["O", "B-V", "B-A1"]])
    return metric


def test_scores_by_hand_overall_and_per_label() -> None:
    nothing = {f"{name}-{x}": 0.0 for name in ("precision", "recall", "f1") for x in ("A1", "R-A0")}
    assert filled().get_metric() == pytest.approx(
        {
            **dict.fromkeys(("precision", "recall", "f1"), 1 / 3),
            **{"precision-A0": 0.5, "recall-A0": 1.0, "f1-A0": 2 / 3},
            **{"precision-V": 1.0, "recall-V": 0.5, "f1-V": 2 / 3},
            **nothing,
        }
    )


def test_report_gives_counts_fit_for_json() -> None:
    report = filled().report()
    assert report == {
        "overall": {"correct": 1, "predicted": 3, "gold": 3},
        "labels": {
            "A0": {"correct": 1, "predicted": 2, "gold": 1},
            "A1": {"correct": 0, "predicted": 0, "gold": 2},
            "R-A0": {"correct": 0, "predicted": 1, "gold": 0},
            "V": {"correct": 1, "predicted": 1, "gold": 2},
        },
    }
    assert json.loads(json.dumps(report)) == report


def test_values_are_plain_floats_and_zero_over_nothing_and_reset_only_when_asked() -> None:
    metric = filled()
    first = metric.get_metric()
    assert {type(value) for value in first.values()} == {float}
    assert metric.get_metric(reset=True) == first
    assert metric.get_metric() == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_refused_calls_count_nothing() -> None:
    metric = SrlF1()
    with pytest.raises(ValueError, match="1 predictions for 2 gold sequences"):
        metric([["O"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="1 predicted tags for 2 gold ones"):
        metric([["B-X"], ["O"]], [["B-X"], ["O", "O"]])
    with pytest.raises(ValueError, match="the tag 'Z-A0' cannot be"):
        metric([["B-X"], ["Z-A0"]], [["B-X"], ["O"]])
    assert metric.report() == {"overall": {"correct": 0, "predicted": 0, "gold": 0}, "labels": {}}


def test_registered_name() -> None:
    assert Metric.by_name("elmo_tasks_srl_f1") is SrlF1


def test_processes_that_see_different_labels_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for two processes: the gathering gives what both have counted."""
    other = {"A2": {"correct": 0, "predicted": 3, "gold": 1}, "V": {"correct": 1, "predicted": 1, "gold": 1}}

    def gather(into: list[object], own: object) -> None:
        into[:] = [own, other]

    monkeypatch.setattr("elmo_tasks.training.distributed.is_distributed", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    monkeypatch.setattr(torch.distributed, "all_gather_object", gather)
    metric = SrlF1()
    metric([["B-A0", "O"]], [["B-A0", "B-A1"]])
    report = metric.report()
    assert report["overall"] == {"correct": 1, "predicted": 4, "gold": 3}
    assert list(report["labels"]) == ["A0", "A1", "A2", "V"]
