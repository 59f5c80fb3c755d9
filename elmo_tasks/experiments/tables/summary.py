"""Step 4: the results of runs -> the cells of the table."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.runs import Planner, Run
from elmo_tasks.experiments.tables.schema import PASSES, PERCENT, Cell, Paper, Row, Table
from elmo_tasks.experiments.tables.table import unknown

MAX_SEEDS = 16
"""Results of earlier calls with more seeds are shown too, up to this seed."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """
    What a cell shows: the score of each seed, the paper's, why scores are missing and which runs failed, whether they
    are in percent, and whether the paper's score is of the same data and split.
    """

    values: list[float]
    paper: Paper | None
    remarks: list[str]
    percent: bool
    comparable: bool

    @property
    def mean(self) -> float | None:
        """The mean over seeds, if any."""
        return mean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation (n-1) over seeds, if there are two."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Our score minus the paper's, if they are comparable."""
        if not self.comparable or self.mean is None or self.paper is None or self.paper.mean is None:
            return None
        return self.mean - self.paper.mean


@dataclass(frozen=True)
class Gain:
    """An increase: absolute, and relative to the error of the lower score, in percent (Table 1)."""

    absolute: float
    relative: float


class Summary:
    """
    All results of a table so far: by row and seed the `records` of finished runs, and the reasons of `failures`.
    `seeds` is the number of seeds that this call asked for.
    """

    def __init__(self, planner: Planner, *, seeds: int) -> None:
        self.planner, self.seeds = planner, seeds
        self.table: Table = planner.table
        self.records: dict[str, dict[int, Record]] = {row.name: {} for row in self.table.rows}
        self.failures: dict[str, dict[int, str]] = {row.name: {} for row in self.table.rows}
        for row in self.table.rows:
            if not planner.is_missing(row):
                for seed in row.seeds(max(seeds, MAX_SEEDS)):
                    self._add(planner.run(row, seed))

    def _add(self, run: Run) -> None:
        if record := run_dir.read_result(run.folder):
            # Another table may have another name for the row.
            self.records[run.row.name][run.seed] = record | {"row": run.row.name}
        elif run.seed <= self.seeds and (failure := run_dir.read_json(run.folder / run_dir.FAILURE)):
            self.failures[run.row.name][run.seed] = str(failure.get("reason"))

    def cell(self, row_label: str, column: str) -> Shown | None:
        """What this cell shows; None if the table has no such cell."""
        cells = ((row, cell) for row in self.table.rows for cell in row.cells)
        found = ((row, cell) for row, cell in cells if (row.row_label, cell.column) == (row_label, column))
        return next((self.shown(row, cell) for row, cell in found), None)

    def shown(self, row: Row, cell: Cell) -> Shown:
        """What one of a row's cells shows."""
        scores = [self._score(row, cell, seed) for seed in sorted(self.records[row.name])]
        values = [value for value in scores if value is not None]
        comparable = self.table.scale == "paper" and row.split == row.paper_split
        return Shown(values, cell.paper, list(self._remarks(row, cell, values)), cell.metric in PERCENT, comparable)

    def gains(self, row_label: str, column: str) -> tuple[Gain | None, Gain | None] | None:
        """Our and the paper's increase of a column over the table's base column; None without these two cells."""
        if self.table.increase is None or column == self.table.increase.over:
            return None
        high, low = self.cell(row_label, column), self.cell(row_label, self.table.increase.over)
        if high is None or low is None:
            return None
        return gain(high.mean, low.mean), gain(*(cell.paper.mean if cell.paper else None for cell in (high, low)))

    def all_records(self) -> list[Record]:
        """The results of all rows and seeds; failed runs as `row`, `seed` and `failed`."""
        rows = []
        for name in self.records:
            rows += list(self.records[name].values())
            rows += [{"row": name, "seed": seed, "failed": why} for seed, why in self.failures[name].items()]
        return rows

    def _score(self, row: Row, cell: Cell, seed: int) -> float | None:
        record = self.records[row.name][seed]
        if cell.metric == PASSES:
            other = self.records.get(cell.over or "", {}).get(seed)
            return None if other is None else first_better(record, other, curve_metric(self.table, row))
        return score(record, cell)

    def _remarks(self, row: Row, cell: Cell, values: list[float]) -> Iterator[str]:
        records, failures = self.records[row.name], self.failures[row.name]
        if row.missing:
            yield f"missing: needs {', '.join(row.missing)}"
        elif not records and not failures:
            yield "missing: not run"
        yield from (f"seed {seed} failed: {reason}" for seed, reason in sorted(failures.items()))
        if records and not values:
            names = {name for record in records.values() for name in record["scores"]}
            passes = cell.metric == PASSES
            yield "never, or the other row is missing" if passes else f"no score {unknown(cell.metric, names)}"


def score(record: Record, cell: Cell) -> float | None:
    """A run's score for a cell, in percent if the metric is; None if it has none."""
    value = record["scores"].get(cell.metric)
    return None if value is None else float(value) * (100 if cell.metric in PERCENT else 1)


def gain(high: float | None, low: float | None) -> Gain | None:
    """The increase of one score over another, both in percent; None if one is missing."""
    if high is None or low is None:
        return None
    return Gain(high - low, 100 * (high - low) / (100 - low) if low < 100 else math.nan)


def curve_metric(table: Table, row: Row) -> str:
    """The metric of a row's learning curve: the first that is in percent."""
    return next((cell.metric for cell in row.cells if cell.metric in PERCENT), table.rows[0].cells[0].metric)


def first_better(record: Record, other: Record, metric: str) -> float | None:
    """The first epoch in which a run's score is above the best of another run; None if there is none."""
    best = max((point[metric] for point in other["curve"] if metric in point), default=math.inf)
    return next((float(p["epoch"]) for p in record["curve"] if p.get(metric, -math.inf) > best), None)
