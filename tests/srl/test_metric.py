"""Arguments of several pieces and their scores, by hand; V is excluded from the overall score."""

import pytest

from elmo_tasks.tasks.srl.metric import SrlF1, arguments_from_tags


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("B-A0 I-A0 O B-V", [("A0", ((0, 2),)), ("V", ((3, 4),))]),
        ("B-A1 B-V B-C-A1 I-C-A1", [("A1", ((0, 1), (2, 4))), ("V", ((1, 2),))]),
        ("B-A1 B-C-A1 O B-C-A1", [("A1", ((0, 1), (1, 2), (3, 4)))]),
        ("B-C-A1 O B-C-A1", [("A1", ((0, 1), (2, 3)))]),
        ("B-A1 O B-A1 B-C-A1", [("A1", ((0, 1),)), ("A1", ((2, 3), (3, 4)))]),
        ("B-A0 B-R-A0 B-C-R-A0 B-C-A0", [("A0", ((0, 1), (3, 4))), ("R-A0", ((1, 2), (2, 3)))]),
        ("I-A0 I-A0 I-A1 B-A1", [("A0", ((0, 2),)), ("A1", ((2, 3),)), ("A1", ((3, 4),))]),
        ("O O", []),
    ],
)
def test_arguments(tags: str, expected: list[tuple[str, tuple[tuple[int, int], ...]]]) -> None:
    assert arguments_from_tags(tags.split()) == expected


@pytest.mark.parametrize(
    ("guesses", "golds", "expected"),
    [
        ("B-A0 I-A0 B-V", "B-A0 I-A0 B-V", (1, 1, 1)),
        ("B-A1 B-V B-C-A1", "B-A1 B-V B-C-A1", (1, 1, 1)),
        ("B-A1 B-V B-A1", "B-A1 B-V B-C-A1", (0, 2, 1)),
        ("B-C-A1 B-V B-C-A1", "B-A1 B-V B-C-A1", (1, 1, 1)),
        ("B-A1 B-C-A1 B-V", "B-A1 I-A1 B-V", (0, 1, 1)),
        ("O O B-C-V", "B-V O O", (0, 0, 0)),
    ],
)
def test_scores(guesses: str, golds: str, expected: tuple[int, int, int]) -> None:
    metric = SrlF1()
    metric([guesses.split()], [golds.split()])
    overall = metric.report()["overall"]
    assert (overall["correct"], overall["predicted"], overall["gold"]) == expected
