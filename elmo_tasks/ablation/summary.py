"""Fourth step: the runs' results -> what stands in each place of the table."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Any

from elmo_tasks import settings
from elmo_tasks.ablation import folder as folders
from elmo_tasks.ablation.nearest import not_known
from elmo_tasks.ablation.runs import Planner, Run
from elmo_tasks.ablation.schema import Paper
from elmo_tasks.ablation.table import PASSES, PERCENT, Cell, Row, Table

SEEDS_LOOKED_FOR = 16
"""Finished runs of earlier calls with more seeds count, too, up to this one."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """
    What stands in a place: the scores of n seeds, the paper's number, and what is wrong.

    # Parameters

    values : `list[float]`
        In percent, where the metric is.
    paper : `Paper`, optional
    remarks : `list[str]`
        Why something is missing, or that runs have failed.
    percent : `bool`
        Whether the numbers are in percent.
    comparable : `bool`
        Whether data and split are those of the paper's number.
    """

    values: list[float]
    paper: Paper | None
    remarks: list[str] = field(default_factory=list)
    percent: bool = True
    comparable: bool = False

    @property
    def mean(self) -> float | None:
        """The mean over seeds, if there is one."""
        return mean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation over seeds (n-1), where there are two."""
        return stdev(self.values) if len(self.values) > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, where they are of the same data."""
        if not self.comparable or self.mean is None or self.paper is None or self.paper.mean is None:
            return None
        return self.mean - self.paper.mean


@dataclass(frozen=True)
class Increase:
    """A gain: absolute, and relative to the error that the lower score leaves, in percent (Table 1)."""

    absolute: float
    relative: float


class Summary:
    """
    All that there is of a table so far.

    # Parameters

    planner : `Planner`
    seeds : `int`
        The seeds 1 to this one are wanted.

    Attributes: `planner`; `table`; `records`, those of the finished runs by row, in the order of seeds; `failures`, the
    reasons of failed ones by row and seed.
    """

    def __init__(self, planner: Planner, *, seeds: int) -> None:
        self.planner = planner
        self.table: Table = planner.table
        self.seeds = seeds
        self.records: dict[str, dict[int, Record]] = {row.name: {} for row in self.table.rows}
        self.failures: dict[str, dict[int, str]] = {row.name: {} for row in self.table.rows}
        wanted = range(1, max(seeds, SEEDS_LOOKED_FOR) + 1)
        for row in self.table.rows:
            if not row.missing and not any(self.table.row(other).missing for other in row.others):
                for seed in [1] if row.once else wanted:
                    self._add(planner.run(row, seed))

    def _add(self, run: Run) -> None:
        record = folders.read_result(run.folder)
        if record is not None:
            # A folder may have been made for another row of the same config.
            self.records[run.row.name][run.seed] = record | {"row": run.row.name}
            return
        failure = folders.read_json(run.folder / folders.FAILURE)
        if failure is not None and run.seed <= self.seeds:
            self.failures[run.row.name][run.seed] = str(failure.get("reason"))

    def place(self, line: str, column: str) -> Shown | None:
        """What stands there; None where the table has nothing in that place."""
        for row in self.table.rows:
            for cell in row.cells:
                if (row.line, cell.column) == (line, column):
                    return self.shown(row, cell)
        return None

    def shown(self, row: Row, cell: Cell) -> Shown:
        """What stands in one of a row's cells."""
        found = {seed: self._value(row, cell, seed) for seed in sorted(self.records[row.name])}
        values = [value for value in found.values() if value is not None]
        remarks = list(self._remarks(row, cell, found))
        return Shown(values, cell.paper, remarks, cell.metric in PERCENT, is_comparable(row))

    def increase(self, line: str, column: str) -> tuple[Increase | None, Increase | None] | None:
        """Our increase of a column over the table's base column, and the paper's; None where the line lacks one."""
        if self.table.increase is None or column == self.table.increase.over:
            return None
        high, low = self.place(line, column), self.place(line, self.table.increase.over)
        if high is None or low is None:
            return None
        papers = [place.paper.mean if place.paper else None for place in (high, low)]
        return increase(high.mean, low.mean), increase(*papers)

    def all_records(self) -> list[Record]:
        """Of all rows and seeds, failed ones as `row`, `seed` and `failed`."""
        rows = []
        for name in self.records:
            rows += list(self.records[name].values())
            rows += [{"row": name, "seed": seed, "failed": why} for seed, why in self.failures[name].items()]
        return rows

    def _value(self, row: Row, cell: Cell, seed: int) -> float | None:
        record = self.records[row.name][seed]
        if cell.metric == PASSES:
            other = self.records.get(cell.over or "", {}).get(seed)
            return None if other is None else first_better(record, other, metric_of(self.table, row))
        return score(record, cell)

    def _remarks(self, row: Row, cell: Cell, found: dict[int, float | None]) -> Iterable[str]:
        if row.missing:
            yield f"missing: needs {', '.join(row.missing)}"
            return
        for seed, reason in sorted(self.failures[row.name].items()):
            yield f"seed {seed} failed: {reason}"
        if not found and not self.failures[row.name]:
            yield "missing: not run"
        elif found and all(value is None for value in found.values()):
            yield self._no_score(row, cell)

    def _no_score(self, row: Row, cell: Cell) -> str:
        if cell.metric == PASSES:
            return "never, or the other row is missing"
        names = {name for record in self.records[row.name].values() for name in record["scores"]}
        return f"there is no score {not_known(cell.metric, names)}"


def score(record: Record, cell: Cell) -> float | None:
    """A run's score for a cell, in percent where the metric is; None where it has none."""
    value = record["scores"].get(cell.metric)
    return None if value is None else float(value) * (100 if cell.metric in PERCENT else 1)


def is_comparable(row: Row) -> bool:
    """Whether a row's scores are of the paper's data and split."""
    return settings.scale() == "paper" and row.split == row.paper_split


def increase(high: float | None, low: float | None) -> Increase | None:
    """The gain of one score over another, both in percent; None where one is missing."""
    if high is None or low is None:
        return None
    return Increase(high - low, 100 * (high - low) / (100 - low) if low < 100 else math.nan)


def metric_of(table: Table, row: Row) -> str:
    """The score by which a row's curve is compared: the first that is shown in percent."""
    return next((cell.metric for cell in row.cells if cell.metric in PERCENT), table.rows[0].cells[0].metric)


def first_better(record: Record, other: Record, metric: str) -> float | None:
    """The first epoch in which a run's score is above the best that another reaches; None if it never is."""
    best = max((point[metric] for point in other["curve"] if metric in point), default=math.inf)
    return next((float(p["epoch"]) for p in record["curve"] if p.get(metric, -math.inf) > best), None)
