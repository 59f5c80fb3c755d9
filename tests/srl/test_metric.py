"""Argument scores by hand; V is excluded from the overall score."""

import pytest

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
