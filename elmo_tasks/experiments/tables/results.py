"""Step 4: the results of runs -> the numbers of the table. `text.py` writes them."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any, NamedTuple

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.runs import Planner, Run
from elmo_tasks.experiments.tables.table import ASIDE, PASSES, Cell, Paper, Row, Table
from elmo_tasks.tasks.metrics import Metric, metric_of

MAX_SEEDS = 16
"""Results of earlier calls with more seeds are shown too, up to this seed."""

Record = dict[str, Any]


@dataclass(frozen=True)
class CellResult:
    """
    The number that is shown for the score of each seed, its metric, the paper's score,
    why scores are missing and runs failed, and whether a run failed.
    """

    values: list[float]
    metric: Metric
    paper: Paper | None
    remarks: list[str]
    failed: bool

    @property
    def mean(self) -> float | None:
        """The mean over seeds, if any."""
        return mean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation (n-1) over seeds, if there are two."""
        return stdev(self.values) if len(self.values) > 1 else None


class Gain(NamedTuple):
    """
    An increase: absolute, its standard error over seeds if both scores have several,
    and that of a share of 1 relative to the error of the lower score, in percent
    (Table 1).
    """

    absolute: float
    error: float | None
    relative: float | None


class Gains(NamedTuple):
    """Our and the paper's increase of a metric; None where a score is missing."""

    metric: Metric
    ours: Gain | None
    paper: Gain | None


@dataclass(frozen=True)
class TableRow:
    """
    A row label, and for each column of the table its cell and the increase over the
    base column; None where the table has none.
    """

    label: str
    cells: dict[str, CellResult | None]
    gains: dict[str, Gains | None]


class Summary:
    """
    All results of a table so far: by row and seed the `records` of finished runs, and
    the reasons of `failures`. `seeds` is the number of seeds that this call asked for,
    and `chosen` its rows (default: all). `rows` are these, and those that have results
    of earlier calls.
    """

    def __init__(
        self, planner: Planner, *, seeds: int, chosen: list[Row] | None = None
    ) -> None:
        self.planner = planner
        self.seeds = seeds
        self.table: Table = planner.table
        self.records: dict[str, dict[int, Record]] = {}
        self.failures: dict[str, dict[int, str]] = {}
        self.rows: list[Row] = []
        for row in self.table.rows:
            self.records[row.name] = {}
            self.failures[row.name] = {}
            if not planner.is_missing(row):
                for seed in row.seeds(max(seeds, MAX_SEEDS)):
                    self._add(planner.run(row, seed))
            if chosen is None or row in chosen or self.records[row.name]:
                self.rows.append(row)

    def _add(self, run: Run) -> None:
        record = run_dir.read_result(run.folder)
        if record is not None:
            # Another table may have another name for the row.
            self.records[run.row.name][run.seed] = record | {"row": run.row.name}
        elif run.seed <= self.seeds:
            failure = run_dir.read_failure(run.folder)
            if failure is not None:
                self.failures[run.row.name][run.seed] = failure

    @property
    def columns(self) -> list[str]:
        """Those that the rows have, in the order of the table."""
        known = {cell.column for row in self.rows for cell in row.cells}
        return [column for column in self.table.columns if column in known]

    def lines(self) -> list[TableRow]:
        """The numbers of the table, a line for each row label."""
        found = []
        for label in dict.fromkeys([row.row_label for row in self.rows]):
            cells = {}
            for column in self.columns:
                cells[column] = self.cell(label, column)
            gains = {column: self._gains(cells, column) for column in cells}
            found.append(TableRow(label, cells, gains))
        return found

    def cell(self, row_label: str, column: str) -> CellResult | None:
        """The result of this cell; None if no row has it."""
        for row in self.rows:
            if row.row_label != row_label:
                continue
            for cell in row.cells:
                if cell.column == column:
                    return self.result(row, cell)
        return None

    def result(self, row: Row, cell: Cell) -> CellResult:
        """The result of one of a row's cells."""
        values = []
        for seed in sorted(self.records[row.name]):
            value = self._score(row, cell, seed)
            if value is not None:
                values.append(value)
        return CellResult(
            values,
            metric=cell.kind,
            paper=cell.paper,
            remarks=list(self._remarks(row, cell, values)),
            failed=bool(self.failures[row.name]),
        )

    def all_records(self) -> list[Record]:
        """
        The results of all rows and seeds; failed runs as `row`, `seed` and `failed`.
        """
        found: list[Record] = []
        for name, records in self.records.items():
            found += records.values()
            for seed, reason in self.failures[name].items():
                found.append({"row": name, "seed": seed, "failed": reason})
        return found

    def _gains(self, cells: dict[str, CellResult | None], column: str) -> Gains | None:
        """The increase of a column over the base column."""
        if self.table.increase is None or column == self.table.increase.over:
            return None
        high = cells[column]
        low = cells.get(self.table.increase.over)
        if high is None or low is None or high.metric != low.metric:
            return None
        metric = high.metric
        error = None
        if len(high.values) > 1 and len(low.values) > 1:
            error = error_of_means(high.values, low.values)
        ours = gain(metric, high.mean, low.mean, error)
        if high.paper is None or low.paper is None:
            return Gains(metric, ours, None)
        return Gains(metric, ours, gain(metric, high.paper.mean, low.paper.mean))

    def _score(self, row: Row, cell: Cell, seed: int) -> float | None:
        record = self.records[row.name][seed]
        if cell.metric != PASSES:
            return score(record, cell)
        other = self.records.get(cell.over or "", {}).get(seed)
        if other is None:
            return None
        return first_better(
            record, other, curve_metric(record, [row, *self.table.rows])
        )

    def _remarks(self, row: Row, cell: Cell, values: list[float]) -> Iterator[str]:
        records = self.records[row.name]
        failures = self.failures[row.name]
        if row.missing:
            yield f"missing: needs {', '.join(row.missing)}"
        elif not records and not failures:
            yield "missing: not run"
        for seed, reason in sorted(failures.items()):
            yield f"seed {seed} failed: {reason}"
        if not records or values:
            return
        if cell.metric == PASSES:
            yield "never, or the other row is missing"
        else:
            yield no_score(cell, next(iter(records.values())))


def no_score(cell: Cell, record: Record) -> str:
    """What a run without a cell's score has."""
    return f"no score {cell.metric!r} among {', '.join(sorted(record['scores']))}"


def score(record: Record, cell: Cell) -> float | None:
    """The number that is shown for a run's score in a cell; None if it has none."""
    value = record["scores"].get(cell.metric)
    if value is None:
        return None
    return cell.kind.shown(float(value))


def error_of_means(high: list[float], low: list[float]) -> float:
    """
    The standard error of the difference of two means, each over two seeds or more.

        >>> error_of_means([1.0, 3.0], [0.0, 2.0])
        1.4142135623730951
    """
    return math.sqrt(stdev(high) ** 2 / len(high) + stdev(low) ** 2 / len(low))


def gain(
    metric: Metric, high: float | None, low: float | None, error: float | None = None
) -> Gain | None:
    """
    The increase of one number of a metric over another, with its standard error; None
    if one is missing.
    """
    if high is None or low is None:
        return None
    relative = None
    if metric.is_share and low < 100:
        relative = 100 * (high - low) / (100 - low)
    return Gain(high - low, error, relative)


def curve_metric(record: Record, rows: Iterable[Row]) -> str | None:
    """The metric of a run's learning curve: the first of these rows that it has."""
    for row in rows:
        for cell in row.cells:
            name = cell.metric.removeprefix(ASIDE)  # curves are of dev data
            if any(name in point for point in record["curve"]):
                return name
    return None


def first_better(record: Record, other: Record, metric: str | None) -> float | None:
    """
    The first epoch in which a run's score is better than the best of another run; None
    if there is none.
    """
    if metric is None:
        return None
    sign = 1 if metric_of(metric).higher_is_better else -1
    known = [sign * point[metric] for point in other["curve"] if metric in point]
    best = max(known, default=math.inf)
    for point in record["curve"]:
        if metric in point and sign * point[metric] > best:
            return float(point["epoch"])
    return None
