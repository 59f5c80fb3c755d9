"""Results to the table: means, increases, epochs, missing runs, and the text."""

import json
from pathlib import Path

import pytest

from elmo_tasks.experiments.tables.results import Summary
from elmo_tasks.experiments.tables.runs import Planner
from elmo_tasks.experiments.tables.text import markdown, remarks, run_scores, terminal
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


def test_terminal_and_markdown(planned: Planner) -> None:
    finished(planned, "baseline", 0.60, 0.61, 0.65)
    finished(planned, "elmo", 0.66)
    file = planned.run(planned.table.row("elmo"), 1).folder / "result.json"
    file.write_text(file.read_text().replace("c" * 40, "d" * 40))
    fail(planned.run(planned.table.row("last"), 1), "ValueError: diverged")
    summary = Summary(planned, seeds=1)
    shown = markdown(summary)
    assert (
        "|  |  | baseline | ELMo | last | CoVe | increase, absolute / relative |"
        in shown
    )
    assert (
        "| NER | ours | 62.0 ± 2.6 (n=3) | 66.0 (n=1) | failed | missing | +4.0 / 10.5% |"
        in shown
    )
    assert "|  | paper | 90.15 | 92.22 ± 0.1 | failed | 88.2 | +2.1 / 21.0% |" in shown
    assert remarks(summary) == [
        "last: seed 1 failed: ValueError: diverged",
        "cove: missing: needs /nowhere/cove.hdf5",
        "all rows: the paper's numbers are of other data: compare increases, not scores",
        "runs of 2 commits: cccccccccccc, dddddddddddd",
    ]
    assert "62.0 ± 2.6 (n=3)  66.0 (n=1)" in terminal(summary)


def test_the_text_fits_the_terminal(planned: Planner) -> None:
    """Columns continue below, and notes are wrapped; elsewhere nothing is."""
    finished(planned, "baseline", 0.60, 0.61, 0.65)
    finished(planned, "elmo", 0.66)
    summary = Summary(planned, seeds=1)
    whole = terminal(summary).split("\n")
    for width in (10**6, max(map(len, whole))):
        assert terminal(summary, width).split("\n") == whole
    for width in (45, 56, 70):
        lines = terminal(summary, width).split("\n")
        assert max(map(len, lines)) <= width
        assert len(lines) > len(whole)
        words = " ".join(lines).split()
        assert sorted(set(words)) == sorted(set(" ".join(whole).split()))
        labels = [line for line in lines if line.startswith("NER  ours")]
        headers = [line for line in lines if line and line[:6].isspace()]
        assert 2 <= len(labels) <= len(headers)


def test_a_part_has_no_empty_lines(tmp_path: Path) -> None:
    planned = planner(tmp_path, ROWS, increase={"over": "baseline"})
    finished(planned, "baseline", 0.60)
    finished(planned, "elmo", 0.66)
    lines = terminal(Summary(planned, seeds=1), 40).split("\n")
    first = lines[: lines.index("")]
    assert first[1].split() == ["baseline"]
    assert [line.split()[0] for line in first[2:]] == ["NER", "paper"]


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
    shown = markdown(Summary(planned, seeds=1)).split("\n")
    assert shown[4] == "|  |  | baseline | ELMo | last | CoVe |"
    assert shown[8:11] == [
        "|  | ours - baseline |  | +6.0 | +0.0 |  |",
        "|  | paper - baseline |  | +2.1 |  | -2.0 |",
        "| SRL | ours |  | missing |  |  |",
    ]


def test_the_epoch_that_passes_the_baseline(tmp_path: Path) -> None:
    cells = [{"column": "passes", "metric": "passes", "over": "baseline", "paper": 10}]
    planned = planner(
        tmp_path,
        [
            row("baseline"),
            row("elmo", cells=cells),
            row("last", row_label="SRL", changes=LAST, cells=cells),
        ],
    )
    table = planned.table
    finish(planned.run(table.row("baseline"), 1), curve=[0.2, 0.5, 0.4], f1=0.5)
    finish(planned.run(table.row("elmo"), 1), curve=[0.4, 0.5, 0.51, 0.6], f1=0.6)
    finish(planned.run(table.row("last"), 1), curve=[0.1, 0.2], f1=0.2)
    summary = Summary(planned, seeds=1)
    cell = table.row("elmo").cells[0]
    assert summary.result(table.row("elmo"), cell).values == [3.0]
    assert summary.result(table.row("last"), cell).remarks == [
        "never, or the other row is missing"
    ]


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
    title = "increase, absolute / relative"
    shown = ("50.0 (n=1)", "63.0 (n=1)", "+13.0 / 26.0%")
    if metric in NUMBERS:
        title, shown = "increase", NUMBERS[metric]
    rows = [row("baseline", metric=metric), row("elmo", metric=metric)]
    for increase in ({"of": "elmo", "over": "baseline"}, {"over": "baseline"}):
        planned = planner(tmp_path, rows, increase=increase)
        for name, value in (("baseline", 0.5), ("elmo", 0.63)):
            run = planned.run(planned.table.row(name), 1)
            finish(run, **{metric: value})
            assert run_scores(run.row, {"scores": {metric: value}}) == (
                f"{metric} {shown[name == 'elmo'].split()[0]}"
            )
        lines = markdown(Summary(planned, seeds=1)).split("\n")
        if "of" in increase:
            assert lines[4] == f"|  |  | baseline | elmo | {title} |"
            assert lines[6] == f"| NER | ours | {' | '.join(shown)} |"
        else:
            absolute = shown[2].split()[0]
            assert lines[6] == f"| NER | ours | {shown[0]} | {shown[1]} |"
            assert lines[7] == f"|  | ours - baseline |  | {absolute} |"


def test_a_perfect_baseline_has_no_error_to_reduce(planned: Planner) -> None:
    finished(planned, "baseline", 1.0)
    finished(planned, "elmo", 1.0)
    shown = markdown(Summary(planned, seeds=1))
    assert "| 100.0 (n=1) | 100.0 (n=1) | missing | missing | +0.0 |" in shown


def test_different_metrics_have_no_increase(tmp_path: Path) -> None:
    rows = [row("baseline", metric="loss"), row("elmo", metric="f1")]
    planned = planner(tmp_path, rows, increase={"of": "elmo", "over": "baseline"})
    for name in ("baseline", "elmo"):
        finish(planned.run(planned.table.row(name), 1), f1=0.5, loss=0.5)
    shown = markdown(Summary(planned, seeds=1))
    assert "| NER | ours | 0.500 (n=1) | 50.0 (n=1) |  |" in shown


def test_a_lower_loss_passes_the_baseline(tmp_path: Path) -> None:
    passes = {"column": "passes", "metric": "passes", "over": "baseline"}
    score = {"column": "loss", "metric": "loss"}
    planned = planner(
        tmp_path, [row("baseline", metric="loss"), row("elmo", cells=[passes, score])]
    )
    for name, losses in (("baseline", [0.9, 0.5, 0.6]), ("elmo", [0.8, 0.5, 0.4])):
        run = planned.run(planned.table.row(name), 1)
        finish(run, loss=min(losses))
        result = json.loads((run.folder / "result.json").read_text())
        for epoch, loss in enumerate(losses, start=1):
            result["curve"].append({"epoch": epoch, "loss": loss})
        (run.folder / "result.json").write_text(json.dumps(result))
    elmo = planned.table.row("elmo")
    found = Summary(planned, seeds=1).result(elmo, elmo.cells[0])
    assert found.values == [3.0]
