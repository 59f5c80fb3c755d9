"""
Arguments of several pieces and their scores, by hand; V is excluded from the overall
score.
"""

import pytest

from elmo_tasks.tasks.srl.metric import SrlF1


@pytest.mark.parametrize(
    ("guesses", "golds", "expected"),
    [
        ("B-A0 I-A0 B-V", "B-A0 I-A0 B-V", (1, 1, 1)),
        ("B-A1 B-V B-A1", "B-A1 B-V B-C-A1", (0, 2, 1)),
        ("B-C-A1 B-V B-C-A1", "B-A1 B-V B-C-A1", (1, 1, 1)),
        ("B-A1 B-C-A1 B-V", "B-A1 I-A1 B-V", (0, 1, 1)),
        ("O O B-C-V", "B-V O O", (0, 0, 0)),
        ("B-R-A0 B-C-R-A0 B-A0", "B-R-A0 I-R-A0 B-A0", (1, 2, 2)),
        ("I-A0 I-A0 I-A1 B-A1", "B-A0 I-A0 B-A1 B-A1", (3, 3, 3)),
        ("B-A1 O B-A1 B-C-A1", "B-A1 O B-A1 I-A1", (1, 2, 2)),
    ],
)
def test_scores(guesses: str, golds: str, expected: tuple[int, int, int]) -> None:
    metric = SrlF1()
    metric([guesses.split()], [golds.split()])
    overall = metric.report()["overall"]
    assert (overall["correct"], overall["predicted"], overall["gold"]) == expected
