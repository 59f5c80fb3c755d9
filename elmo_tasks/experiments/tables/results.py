"""Step 4: the results of runs -> the cells of the table, and the table as text, on the terminal and in Markdown."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.runs import Planner, Run
from elmo_tasks.experiments.tables.table import PASSES, PERCENT, Cell, Paper, Row, Table

MAX_SEEDS = 16
"""Results of earlier calls with more seeds are shown too, up to this seed."""
NONE, MISSING, FAILED = "–", "missing", "failed"

Record = dict[str, Any]


@dataclass(frozen=True)
class CellResult:
    """
    The score of each seed, the paper's, why scores are missing and which runs failed, and whether they are in percent.
    """

    values: list[float]
    paper: Paper | None
    remarks: list[str]
    percent: bool

    @property
    def mean(self) -> float | None:
        """The mean over seeds, if any."""
        return mean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation (n-1) over seeds, if there are two."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def ours(self) -> str:
        """`84.6 ± 0.2 (n=3)`; `missing` or `failed` without a score."""
        failed = any("failed" in remark for remark in self.remarks)
        if self.mean is None:
            return FAILED if failed else MISSING
        deviation = "" if self.deviation is None else f" ± {self.deviation:.1f}"
        return f"{self.mean:.1f}{deviation} (n={len(self.values)}{', some failed' if failed else ''})"

    @property
    def papers(self) -> str:
        """The paper's score with the digits that the paper gives."""
        if self.paper is None or self.paper.mean is None:
            return (self.paper and self.paper.says) or NONE
        mean = f"{self.paper.mean:g}"
        mean += ".0" if self.percent and "." not in mean else ""
        return mean + (
            "" if self.paper.deviation is None else f" ± {self.paper.deviation:g}"
        )


Gain = tuple[float, float]
"""An increase: absolute, and relative to the error of the lower score, in percent (Table 1)."""


class Summary:
    """
    All results of a table so far: by row and seed the `records` of finished runs, and the reasons of `failures`.
    `seeds` is the number of seeds that this call asked for.
    """

    def __init__(self, planner: Planner, *, seeds: int) -> None:
        self.planner, self.seeds = planner, seeds
        self.table: Table = planner.table
        self.records: dict[str, dict[int, Record]] = {
            row.name: {} for row in self.table.rows
        }
        self.failures: dict[str, dict[int, str]] = {
            row.name: {} for row in self.table.rows
        }
        for row in self.table.rows:
            if not planner.is_missing(row):
                for seed in row.seeds(max(seeds, MAX_SEEDS)):
                    self._add(planner.run(row, seed))

    def _add(self, run: Run) -> None:
        if record := run_dir.read_result(run.folder):
            # Another table may have another name for the row.
            self.records[run.row.name][run.seed] = record | {"row": run.row.name}
        elif run.seed <= self.seeds and (
            failure := run_dir.read_json(run.folder / run_dir.FAILURE)
        ):
            self.failures[run.row.name][run.seed] = str(failure.get("reason"))

    def cell(self, row_label: str, column: str) -> CellResult | None:
        """The result of this cell; None if the table has no such cell."""
        cells = ((row, cell) for row in self.table.rows for cell in row.cells)
        found = (
            (row, cell)
            for row, cell in cells
            if (row.row_label, cell.column) == (row_label, column)
        )
        return next((self.result(row, cell) for row, cell in found), None)

    def result(self, row: Row, cell: Cell) -> CellResult:
        """The result of one of a row's cells."""
        scores = [
            self._score(row, cell, seed) for seed in sorted(self.records[row.name])
        ]
        values = [value for value in scores if value is not None]
        return CellResult(
            values,
            cell.paper,
            list(self._remarks(row, cell, values)),
            cell.metric in PERCENT,
        )

    def gains(
        self, row_label: str, column: str
    ) -> tuple[Gain | None, Gain | None] | None:
        """Our and the paper's increase of a column over the table's base column; None without these two cells."""
        if self.table.increase is None or column == self.table.increase.over:
            return None
        high, low = (
            self.cell(row_label, column),
            self.cell(row_label, self.table.increase.over),
        )
        if high is None or low is None:
            return None
        return gain(high.mean, low.mean), gain(
            *(cell.paper.mean if cell.paper else None for cell in (high, low))
        )

    def all_records(self) -> list[Record]:
        """The results of all rows and seeds; failed runs as `row`, `seed` and `failed`."""
        rows = []
        for name in self.records:
            rows += list(self.records[name].values())
            rows += [
                {"row": name, "seed": seed, "failed": why}
                for seed, why in self.failures[name].items()
            ]
        return rows

    def _score(self, row: Row, cell: Cell, seed: int) -> float | None:
        record = self.records[row.name][seed]
        if cell.metric == PASSES:
            other = self.records.get(cell.over or "", {}).get(seed)
            return (
                None
                if other is None
                else first_better(record, other, curve_metric(self.table, row))
            )
        return score(record, cell)

    def _remarks(self, row: Row, cell: Cell, values: list[float]) -> Iterator[str]:
        records, failures = self.records[row.name], self.failures[row.name]
        if row.missing:
            yield f"missing: needs {', '.join(row.missing)}"
        elif not records and not failures:
            yield "missing: not run"
        yield from (
            f"seed {seed} failed: {reason}" for seed, reason in sorted(failures.items())
        )
        if records and not values:
            other = no_score(cell, next(iter(records.values())))
            yield (
                "never, or the other row is missing" if cell.metric == PASSES else other
            )


def no_score(cell: Cell, record: Record) -> str:
    """What a run without a cell's score has."""
    return f"no score {cell.metric!r}, but {', '.join(sorted(record['scores']))}"


def score(record: Record, cell: Cell) -> float | None:
    """A run's score for a cell, in percent if the metric is; None if it has none."""
    value = record["scores"].get(cell.metric)
    return (
        None if value is None else float(value) * (100 if cell.metric in PERCENT else 1)
    )


def gain(high: float | None, low: float | None) -> Gain | None:
    """The increase of one score over another, both in percent; None if one is missing."""
    if high is None or low is None:
        return None
    return high - low, 100 * (high - low) / (100 - low) if low < 100 else math.nan


def curve_metric(table: Table, row: Row) -> str:
    """The metric of a row's learning curve: the first that is in percent."""
    return next(
        (cell.metric for cell in row.cells if cell.metric in PERCENT),
        table.rows[0].cells[0].metric,
    )


def first_better(record: Record, other: Record, metric: str) -> float | None:
    """The first epoch in which a run's score is above the best of another run; None if there is none."""
    best = max(
        (point[metric] for point in other["curve"] if metric in point), default=math.inf
    )
    return next(
        (float(p["epoch"]) for p in record["curve"] if p.get(metric, -math.inf) > best),
        None,
    )


def signed(value: float) -> str:
    """A difference, such as `+0.3`."""
    return f"{round(value, 1) + 0.0:+.1f}"


def duration(seconds: float | None) -> str:
    """`40 s`, `12 min`, `3.5 h`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def run_scores(row: Row, record: Record) -> str:
    """`f1 84.6`: the scores of a run that its row shows."""
    return ", ".join(
        f"{cell.metric} {value:.1f}"
        for cell in row.cells
        if (value := score(record, cell)) is not None
    )


def body(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """
    Header and rows. Each row label has a row with our scores, then, unless they are empty, rows with the paper's
    scores, and the increases.
    """
    header = ["", "", *summary.table.columns]
    if summary.table.increase and summary.table.increase.of:
        header.append("increase, absolute / relative")
    rows = []
    for label in summary.table.row_labels:
        ours, *others = _rows(summary, label)
        rows += [
            [label, *ours[1:]],
            *(row for row in others if any(cell not in ("", NONE) for cell in row[2:])),
        ]
    return header, rows


def _rows(summary: Summary, row_label: str) -> list[list[str]]:
    table = summary.table
    cells = [summary.cell(row_label, column) for column in table.columns]
    rows = [
        ["", "ours", *("" if cell is None else cell.ours for cell in cells)],
        ["", "paper", *("" if cell is None else cell.papers for cell in cells)],
    ]
    if table.increase is None:
        return rows
    if table.increase.of:
        gains = summary.gains(row_label, table.increase.of)
        gained = (
            [f"{signed(gain[0])} / {gain[1]:.1f}%" if gain else NONE for gain in gains]
            if gains
            else ["", ""]
        )
        return [[*row, text] for row, text in zip(rows, gained, strict=True)]
    increases = [
        summary.gains(row_label, column) or (None, None) for column in table.columns
    ]
    for name, gains_of in zip(
        ("ours", "paper"), zip(*increases, strict=True), strict=True
    ):
        texts = ["" if gain is None else signed(gain[0]) for gain in gains_of]
        rows.append(["", f"{name} - {table.increase.over}", *texts])
    return rows


def remarks(summary: Summary) -> list[str]:
    """Notes below the table: what is missing or failed, and what is not comparable, with the rows concerned."""
    rows = summary.table.rows
    notes: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        for remark in [
            remark for cell in row.cells for remark in summary.result(row, cell).remarks
        ]:
            notes[remark][row.name] = None
    for row in rows:
        if row.split != row.paper_split:
            notes[
                f"scored on {row.split}, the paper's numbers are of {row.paper_split}"
            ][row.name] = None
        if summary.table.scale != "paper" and any(cell.paper for cell in row.cells):
            notes[
                "the paper's numbers are of other data: compare increases, not scores"
            ][row.name] = None
    lines = [
        f"{'all rows' if len(names) == len(rows) > 1 else ', '.join(names)}: {it}"
        for it, names in notes.items()
    ]
    commits = sorted(
        {
            str(record["commit"])
            for record in summary.all_records()
            if "commit" in record
        }
    )
    if len(commits) > 1:
        short = [re.sub(r"^(\w{12})\w+", r"\1", commit) for commit in commits]
        lines.append(f"runs of {len(commits)} commits: {', '.join(short)}")
    if any(commit.endswith("+") for commit in commits):
        lines.append("a + after a commit: with uncommitted changes")
    return lines


def terminal(summary: Summary) -> str:
    """The table in aligned columns, and the notes."""
    header, rows = body(summary)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))
        for row in [header, *rows]
    ]
    return "\n".join(
        [summary.table.title, *(line.rstrip() for line in lines), *remarks(summary)]
    )


def markdown(summary: Summary) -> str:
    """The contents of `table.md`."""
    header, rows = body(summary)
    cells = [
        [cell.replace("|", "\\|") for cell in row]
        for row in (header, ["---"] * len(header), *rows)
    ]
    lines = [
        f"# {summary.table.title}",
        "",
        summary.table.about,
        "",
        *(f"| {' | '.join(row)} |" for row in cells),
        "",
    ]
    lines += [
        "Ours: mean ± standard deviation (n-1) over n seeds.",
        "",
        *(f"- {it}" for it in remarks(summary)),
    ]
    return "\n".join(lines).rstrip() + "\n"
