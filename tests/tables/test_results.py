"""Results to the table: means, increases, epochs, missing runs, and the text."""

import json
import re
from pathlib import Path

import pytest

from elmo_tasks.experiments.tables.results import Summary
from elmo_tasks.experiments.tables.runs import Planner
from elmo_tasks.experiments.tables.text import (
    remarks,
    results,
)
from tests.tables.tables import LAST, fail, finish, planner, row

ROWS = [
    row("baseline", column="baseline", paper=90.15),
    row("elmo", column="ELMo", paper={"mean": 92.22, "deviation": 0.1}),
    row("last", column="last", changes=LAST, paper={"says": "failed"}),
    row("cove", column="CoVe", needs=["/nowhere/cove.hdf5"], paper=88.2),
]


@pytest.fixture
def planned(tmp_path: Path) -> Planner:
    return planner(tmp_path, ROWS, increase="baseline")


def finished(planned: Planner, name: str, *scores: float) -> None:
    for seed, f1 in enumerate(scores, start=1):
        finish(planned.run(planned.table.row(name), seed), f1=f1)


def lines_of(planned: Planner, seeds: int = 1) -> list[str]:
    """The lines of the table, without the blanks that align its columns."""
    found = []
    for line in results(Summary(planned, seeds=seeds)).split("\n"):
        if line.startswith("|"):
            found.append(re.sub(r" +", " ", line))
    return found


def test_a_table(planned: Planner) -> None:
    finished(planned, "baseline", 0.60, 0.61, 0.65)
    finished(planned, "elmo", 0.66)
    file = planned.run(planned.table.row("elmo"), 1).folder / "result.json"
    result = json.loads(file.read_text().replace("c" * 40, "d" * 40))
    file.write_text(json.dumps(result | {"inputs": {"a.txt": "1", "b.txt": "1"}}))
    first = planned.run(planned.table.row("baseline"), 1).folder / "result.json"
    other = json.loads(first.read_text()) | {"inputs": {"a.txt": "1", "b.txt": "2"}}
    first.write_text(json.dumps(other))
    fail(planned.run(planned.table.row("last"), 1), "ValueError: diverged")
    shown = lines_of(planned, seeds=3)
    assert shown[0] == "| | | baseline | ELMo | last | CoVe |"
    assert shown[2:] == [
        "| NER | ours | 62.0 ± 2.6 (n=3) | 66.0 (n=1) | failed | missing |",
        "| | paper | 90.15 | 92.22 ± 0.1 | failed | 88.2 |",
        "| | ours: increase over baseline (SE); % of the error | | +4.0; 10.5% | | |",
        "| | paper: increase over baseline; % of the error | | +2.1; 21.0% | | -2.0; -19.8% |",
    ]
    assert remarks(Summary(planned, seeds=3)) == [
        "all rows: the paper's numbers are of other data: compare increases, not scores",
        "last: seed 1 failed: ValueError: diverged",
        "cove: missing: needs /nowhere/cove.hdf5",
        "runs of 2 commits: cccccccccccc, dddddddddddd",
        "not comparable, this file changed between runs: b.txt",
    ]


def test_an_increase_has_a_standard_error(planned: Planner) -> None:
    """The root of the sum of both variances, each over its number of seeds."""
    finished(planned, "baseline", 0.60, 0.62)
    finished(planned, "elmo", 0.66, 0.67, 0.71)
    error = (2.0 / 2 + 7.0 / 3) ** 0.5
    assert f"| +7.0 ({error:.1f}); 17.9% |" in lines_of(planned, seeds=3)[4]


def test_the_split_of_the_papers_scores(tmp_path: Path) -> None:
    rows = [
        row("baseline", column="a", paper=60.0),
        row("elmo", column="b", paper=62.0, paper_split="test"),
    ]
    planned = planner(tmp_path, rows)
    finished(planned, "baseline", 0.65)
    finished(planned, "elmo", 0.66)
    planned.table = planned.table.model_copy(update={"scale": "paper"})
    summary = Summary(planned, seeds=1)
    assert remarks(summary) == ["elmo: scored on dev, the paper's numbers are of test"]


def test_increases_are_over_the_same_line(tmp_path: Path) -> None:
    at_both = {"model.elmo.at": "both"}
    loose = row("loose", row_label="SRL", column="ELMo", changes=at_both, paper=80.0)
    planned = planner(tmp_path, [*ROWS, loose], increase="baseline")
    finished(planned, "baseline", 0.60)
    finished(planned, "last", 0.5998)
    shown = lines_of(planned)
    assert shown[4].endswith("| | | +0.0; -0.1% | |")
    assert shown[6:] == ["| SRL | ours | | missing | | |", "| | paper | | 80.0 | | |"]


@pytest.mark.parametrize(
    ("metric", "baseline", "curve", "epochs"),
    [
        ("f1", [0.2, 0.5, 0.4], [0.4, 0.5, 0.51, 0.6], [3.0]),
        ("f1", [0.2, 0.5, 0.4], [0.1, 0.2], []),
        ("loss", [0.9, 0.5, 0.6], [0.8, 0.5, 0.4], [3.0]),
    ],
)
def test_the_epoch_that_passes_the_baseline(
    metric: str,
    baseline: list[float],
    curve: list[float],
    epochs: list[float],
    tmp_path: Path,
) -> None:
    """Of a loss, that with a lower one."""
    rows = [
        row("baseline", metric=metric),
        row("elmo", metric="passes", over="baseline", paper=10),
    ]
    planned = planner(tmp_path, rows)
    for name, scores in (("baseline", baseline), ("elmo", curve)):
        run = planned.run(planned.table.row(name), 1)
        finish(run, curve=scores, f1=max(scores), loss=min(scores))
    elmo = planned.table.row("elmo")
    summary = Summary(planned, seeds=1)
    assert summary.values(elmo) == epochs
    never = "elmo: never, or the other row is missing"
    assert (never in remarks(summary)) == (not epochs)


SHARES = ["f1", "em", "f1-PER", "muc_precision"]
NUMBERS = {
    "elmo_input_s0": ("0.500 (n=1)", "0.630 (n=1)", "+0.130"),
    "forward_perplexity": ("0.5 (n=1)", "0.6 (n=1)", "+0.1"),
}
"""Two scores and their increase."""


@pytest.mark.parametrize("metric", [*SHARES, *NUMBERS])
def test_a_share_of_1_alone_has_a_relative_increase(
    metric: str, tmp_path: Path
) -> None:
    """The increase is a part of the error, which no other metric has."""
    shown = NUMBERS.get(metric, ("50.0 (n=1)", "63.0 (n=1)", "+13.0; 26.0%"))
    rows = [row("baseline", metric=metric), row("elmo", metric=metric)]
    planned = planner(tmp_path, rows, increase="baseline")
    for name, value in (("baseline", 0.5), ("elmo", 0.63)):
        finish(planned.run(planned.table.row(name), 1), **{metric: value})
    low, high, increase = shown
    assert lines_of(planned)[2] == f"| NER | ours | {low} | {high} |"
    assert lines_of(planned)[3].endswith(f"(SE); % of the error | | {increase} |")


def test_a_perfect_baseline_has_no_error_to_reduce(planned: Planner) -> None:
    finished(planned, "baseline", 1.0)
    finished(planned, "elmo", 1.0)
    assert lines_of(planned)[4].endswith("| | +0.0 | | |")


def test_different_metrics_have_no_increase(tmp_path: Path) -> None:
    rows = [row("baseline", metric="loss"), row("elmo", metric="f1")]
    planned = planner(tmp_path, rows, increase="baseline")
    for name in ("baseline", "elmo"):
        finish(planned.run(planned.table.row(name), 1), f1=0.5, loss=0.5)
    assert lines_of(planned)[2:] == ["| NER | ours | 0.500 (n=1) | 50.0 (n=1) |"]
