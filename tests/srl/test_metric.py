"""Argument scores by hand; V is excluded from the overall score."""

import pytest
import torch.distributed
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.srl.arguments import arguments_from_tags
from elmo_tasks.srl.metric import SrlF1


@pytest.mark.parametrize(
    ("guesses", "golds", "expected"),
    [
        ("B-A0 I-A0 B-V", "B-A0 I-A0 B-V", (1, 1, 1)),
        ("B-A0 B-V O", "B-A0 I-A0 B-V", (0, 1, 1)),
        ("B-A1 I-A1 B-V", "B-A0 I-A0 B-V", (0, 1, 1)),
        ("B-A1 B-V B-C-A1", "B-A1 B-V B-C-A1", (1, 1, 1)),
        ("B-A1 B-V O", "B-A1 B-V B-C-A1", (0, 1, 1)),
        ("B-A1 B-V B-A1", "B-A1 B-V B-C-A1", (0, 2, 1)),
        ("B-C-A1 B-V B-C-A1", "B-A1 B-V B-C-A1", (1, 1, 1)),
        ("B-A1 B-C-A1 B-V", "B-A1 I-A1 B-V", (0, 1, 1)),
        ("B-R-A0 B-V O", "B-A0 B-V O", (0, 1, 1)),
        ("O O B-C-V", "B-V O O", (0, 0, 0)),
    ],
)
def test_by_hand(guesses: str, golds: str, expected: tuple[int, int, int]) -> None:
    metric = SrlF1()
    metric([guesses.split()], [golds.split()])
    overall = metric.report()["overall"]
    assert (overall["correct"], overall["predicted"], overall["gold"]) == expected


LABELS = ("A0", "A1", "C-A0", "C-A1", "R-A0", "V", "C-V")
TAGS = st.sampled_from(["O", *(f"{letter}-{label}" for letter in "BI" for label in LABELS)])
CLOSE = st.lists(st.tuples(TAGS, st.none() | TAGS).map(lambda p: (p[0], p[1] or p[0])), max_size=9)


@settings(deadline=None)
@given(corpus=st.lists(CLOSE, max_size=4))
def test_overall_counts(corpus: list[list[tuple[str, str]]]) -> None:
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


def test_scores_overall_and_per_label() -> None:
    """A0: 1 correct, 2 predicted, 1 gold; A1: 0, 0, 2; R-A0: 0, 1, 0; V: 1, 1, 2."""
    metric = SrlF1()
    metric([["B-A0", "O", "O"], []], [["B-A0", "B-A1", "B-V"], []])
    metric([["B-A0", "B-V", "B-R-A0"]], [["O", "B-V", "B-A1"]])
    expected = {
        **dict.fromkeys(("precision", "recall", "f1"), 1 / 3),
        **{"precision-A0": 0.5, "recall-A0": 1.0, "f1-A0": 2 / 3},
        **{"precision-V": 1.0, "recall-V": 0.5, "f1-V": 2 / 3},
        **{f"{name}-{label}": 0.0 for name in ("precision", "recall", "f1") for label in ("A1", "R-A0")},
    }
    assert metric.get_metric() == pytest.approx(expected)
    assert metric.get_metric(reset=True) == pytest.approx(expected)
    assert metric.get_metric() == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_processes_with_different_labels(monkeypatch: pytest.MonkeyPatch) -> None:
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
