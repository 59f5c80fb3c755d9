"""Results to the table: means, increases, epochs, missing runs, and the text."""

import re
from pathlib import Path

import pytest

from elmo_tasks.experiments.tables.results import Summary
from elmo_tasks.experiments.tables.runs import Planner
from elmo_tasks.experiments.tables.text import (
    body,
    markdown,
    remarks,
    results,
    run_scores,
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
    return planner(tmp_path, ROWS, increase={"of": "ELMo", "over": "baseline"})


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
    file.write_text(file.read_text().replace("c" * 40, "d" * 40))
    fail(planned.run(planned.table.row("last"), 1), "ValueError: diverged")
    shown = lines_of(planned)
    assert shown[0] == (
        "| | | baseline | ELMo | last | CoVe | increase (SE); % of the error |"
    )
    assert shown[2:] == [
        "| NER | ours | 62.0 ± 2.6 (n=3) | 66.0 (n=1) | failed | missing | +4.0; 10.5% |",
        "| | paper | 90.15 | 92.22 ± 0.1 | failed | 88.2 | +2.1; 21.0% |",
    ]
    assert remarks(Summary(planned, seeds=1)) == [
        "last: seed 1 failed: ValueError: diverged",
        "cove: missing: needs /nowhere/cove.hdf5",
        "all rows: the paper's numbers are of other data: compare increases, not scores",
        "runs of 2 commits: cccccccccccc, dddddddddddd",
    ]


def test_an_increase_has_a_standard_error(planned: Planner) -> None:
    """The root of the sum of both variances, each over its number of seeds."""
    finished(planned, "baseline", 0.60, 0.62)
    finished(planned, "elmo", 0.66, 0.67, 0.71)
    error = (2.0 / 2 + 7.0 / 3) ** 0.5
    assert f"| +7.0 ({error:.1f}); 17.9% |" in lines_of(planned)[2]


def test_rows_that_were_not_chosen(planned: Planner) -> None:
    """They are in the table if they have results of earlier calls."""
    finished(planned, "elmo", 0.66)
    chosen = [planned.table.row("baseline")]
    header, lines = body(Summary(planned, seeds=1, chosen=chosen))
    assert header[2:] == ["baseline", "ELMo", "increase (SE); % of the error"]
    assert lines[0][2:] == ["missing", "66.0 (n=1)", "–"]
    header, lines = body(Summary(planned, seeds=1, chosen=[]))
    assert header[2:4] == ["ELMo", "increase (SE); % of the error"]
    assert lines[0][2:] == ["66.0 (n=1)", ""]


def test_the_file_of_a_table(tmp_path: Path) -> None:
    """It also has what the rows change, and how to reproduce them."""
    rows = [row("baseline"), row("last", column="a|b", changes=LAST)]
    planned = planner(tmp_path, rows)
    finished(planned, "baseline", 0.30, 0.40)
    text = markdown(Summary(planned, seeds=1), "elmo-tasks ablate x")
    assert text.startswith("# A table\n\n|") and " a\\|b " in text
    _, _, text = text.partition("\n## Rows\n\n")
    lines = text.split("\n")
    assert lines[0] == (
        "- baseline: ner.jsonnet; scored on dev (ner/eng.testa); f1 30.0, 40.0"
    )
    assert '  - model.elmo.mix: "weighted" -> "last"' in lines
    assert lines[lines.index("## How to reproduce") + 2 :] == [
        "- Command: `elmo-tasks ablate x`",
        "- Scale: mini",
        "- Date: 2026-11-21",
        "- Versions: python 3.11.2, torch 2.13.0",
        "- Machine: CPU, 1 thread",
        f"- Code: {'c' * 40}",
        "",
    ]


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


def test_increases_of_all_columns(tmp_path: Path) -> None:
    rows = [
        *ROWS,
        row(
            "loose",
            row_label="SRL",
            column="ELMo",
            changes={"model.elmo.at": "both"},
            paper=80.0,
        ),
    ]
    planned = planner(tmp_path, rows, increase={"over": "baseline"})
    finished(planned, "baseline", 0.60)
    finished(planned, "elmo", 0.6599)
    finished(planned, "last", 0.5998)
    shown = lines_of(planned)
    assert shown[0] == "| | | baseline | ELMo | last | CoVe |"
    assert shown[4:7] == [
        "| | ours: increase over baseline (SE) | | +6.0 | +0.0 | |",
        "| | paper: increase over baseline | | +2.1 | | -2.0 |",
        "| SRL | ours | | missing | | |",
    ]


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
    passes = {"column": "passes", "metric": "passes", "over": "baseline", "paper": 10}
    cells = [passes, {"column": "score", "metric": metric}]
    rows = [row("baseline", metric=metric), row("elmo", cells=cells)]
    planned = planner(tmp_path, rows)
    for name, scores in (("baseline", baseline), ("elmo", curve)):
        run = planned.run(planned.table.row(name), 1)
        finish(run, curve=scores, f1=max(scores), loss=min(scores))
    elmo = planned.table.row("elmo")
    found = Summary(planned, seeds=1).result(elmo, elmo.cells[0])
    assert found.values == epochs
    assert found.remarks == ([] if epochs else ["never, or the other row is missing"])


SHARES = ["f1", "accuracy", "em", "recall", "f1-PER", "muc_precision"]
NUMBERS = {
    "pearson": ("0.500 (n=1)", "0.630 (n=1)", "+0.130"),
    "loss": ("0.500 (n=1)", "0.630 (n=1)", "+0.130"),
    "elmo_input_s0": ("0.500 (n=1)", "0.630 (n=1)", "+0.130"),
    "mae-x": ("0.500 (n=1)", "0.630 (n=1)", "+0.130"),
    "perplexity": ("0.5 (n=1)", "0.6 (n=1)", "+0.1"),
    "forward_perplexity": ("0.5 (n=1)", "0.6 (n=1)", "+0.1"),
    "best_epoch": ("0.5 (n=1)", "0.6 (n=1)", "+0.1"),
}
"""Two scores and their increase."""


@pytest.mark.parametrize("metric", [*SHARES, *NUMBERS])
def test_a_share_of_1_alone_has_a_relative_increase(
    metric: str, tmp_path: Path
) -> None:
    """The increase is a part of the error, which no other metric has."""
    shown = NUMBERS.get(metric, ("50.0 (n=1)", "63.0 (n=1)", "+13.0; 26.0%"))
    rows = [row("baseline", metric=metric), row("elmo", metric=metric)]
    planned = planner(tmp_path, rows, increase={"of": "elmo", "over": "baseline"})
    for name, value in (("baseline", 0.5), ("elmo", 0.63)):
        run = planned.run(planned.table.row(name), 1)
        finish(run, **{metric: value})
        of_run = run_scores(run.row, {"scores": {metric: value}})
        assert of_run == f"{metric} {shown[name == 'elmo'].split()[0]}"
    assert lines_of(planned)[2] == f"| NER | ours | {' | '.join(shown)} |"
    planned = planner(tmp_path, rows, increase={"over": "baseline"})
    absolute = shown[2].partition(";")[0]
    expected = f"| | ours: increase over baseline (SE) | | {absolute} |"
    assert lines_of(planned)[3] == expected


def test_a_perfect_baseline_has_no_error_to_reduce(planned: Planner) -> None:
    finished(planned, "baseline", 1.0)
    finished(planned, "elmo", 1.0)
    shown = lines_of(planned)[2]
    assert "| 100.0 (n=1) | 100.0 (n=1) | missing | missing | +0.0 |" in shown


def test_different_metrics_have_no_increase(tmp_path: Path) -> None:
    rows = [row("baseline", metric="loss"), row("elmo", metric="f1")]
    planned = planner(tmp_path, rows, increase={"of": "elmo", "over": "baseline"})
    for name in ("baseline", "elmo"):
        finish(planned.run(planned.table.row(name), 1), f1=0.5, loss=0.5)
    shown = lines_of(planned)[2]
    assert shown == "| NER | ours | 0.500 (n=1) | 50.0 (n=1) | |"
