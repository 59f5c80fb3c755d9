"""
The raw rows of training next to allennlp-models are complete and of equal trainings.
"""

import json
from typing import Any

from tests.tiny import ROOT

ROWS = ROOT / "docs/results/peers.jsonl"


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()]


def test_both_packages_trained_on_the_same_batches() -> None:
    trained: dict[str, set[tuple[int, int]]] = {}
    for row in rows():
        sizes = (row["instances"], row["batches"])
        trained.setdefault(row["row"], set()).add(sizes)
    assert len(trained) == 5
    for task, sizes in trained.items():
        assert len(sizes) == 1, task


def test_two_models_have_as_many_parameters_in_both_packages() -> None:
    counts: dict[tuple[str, bool], set[int]] = {}
    for row in rows():
        place = (row["row"], row["elmo"] != "none")
        counts.setdefault(place, set()).add(row["parameters"])
    equal = {task for (task, _), found in counts.items() if len(found) == 1}
    assert equal == {"snli", "sst"}


def test_each_row_was_measured_as_often() -> None:
    seeds: dict[tuple[str, str, str], list[int]] = {}
    for row in rows():
        place = (row["row"], row["elmo"], row["package"])
        seeds.setdefault(place, []).append(row["seed"])
    assert len(seeds) == 5 * 5
    for place, found in seeds.items():
        assert found == [1, 2], place  # as the page says
