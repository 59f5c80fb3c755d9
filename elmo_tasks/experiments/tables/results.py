"""Step 4: the results of runs -> the numbers of the table. `text.py` writes them."""

import math
from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any, NamedTuple

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.runs import Planner, Run
from elmo_tasks.experiments.tables.table import ASIDE, Row
from elmo_tasks.training.metrics import Metric, metric_of

Record = dict[str, Any]

MAX_SEEDS = 16
"""Results of earlier calls with more seeds are shown too, up to this seed."""


class Gain(NamedTuple):
    """
    An increase: absolute, its standard error over seeds if both scores have several,
    and that of a share of 1 relative to the error of the lower score, in percent
    (Table 1).
    """

    absolute: float
    error: float | None
    relative: float | None


class Summary:
    """
    The results of a table so far: by row and seed the `records` of finished runs, also
    of earlier calls with more seeds, and the reasons of `failures` of seeds 1 to
    `seeds`. Its `rows` are those that were `chosen`, by default all, and those with
    results of earlier calls.
    """

    def __init__(
        self, planner: Planner, *, seeds: int, chosen: Sequence[Row] | None = None
    ) -> None:
        self.table = planner.table
        self.records: dict[str, dict[int, Record]] = {}
        self.failures: dict[str, dict[int, str]] = {}
        for row in self.table.rows:
            self.records[row.name] = {}
            self.failures[row.name] = {}
            if not planner.is_missing(row):
                for seed in row.seeds(max(seeds, MAX_SEEDS)):
                    self._add(planner.run(row, seed), asked=seed <= seeds)
        self.rows: list[Row] = []
        for row in self.table.rows:
            has_any = self.records[row.name] or self.failures[row.name]
            if chosen is None or row in chosen or has_any:
                self.rows.append(row)

    @property
    def columns(self) -> list[str]:
        """The table's columns that these rows have."""
        found = {row.column for row in self.rows}
        return [column for column in self.table.columns if column in found]

    def _add(self, run: Run, *, asked: bool) -> None:
        record = run_dir.read_result(run.folder)
        failure = run_dir.read_failure(run.folder)
        if record is not None:
            # Another table may have another name for the row.
            self.records[run.row.name][run.seed] = record | {"row": run.row.name}
        elif failure is not None and asked:
            self.failures[run.row.name][run.seed] = failure

    def row(self, label: str, column: str) -> Row | None:
        """The row in this cell of the table; None if there is none."""
        for row in self.rows:
            if (row.row_label, row.column) == (label, column):
                return row
        return None

    def values(self, row: Row) -> list[float]:
        """The number that is shown for the score of each seed that has one."""
        found = []
        for seed, record in sorted(self.records[row.name].items()):
            value = score(record, row)
            if row.over is not None:
                value = self._first_better(row.over, record, seed)
            if value is not None:
                found.append(value)
        return found

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

    def gains(self, row: Row, base: Row) -> tuple[Gain | None, Gain | None]:
        """Our and the paper's increase of a row over another; None without scores."""
        if row.kind != base.kind:
            return None, None
        ours = papers = None
        high = self.values(row)
        low = self.values(base)
        if high and low:
            error = None
            if len(high) > 1 and len(low) > 1:
                error = error_of_means(high, low)
            ours = gain(row.kind, mean(high), mean(low), error)
        published = [one.paper.mean for one in (row, base) if one.paper is not None]
        means = [value for value in published if value is not None]
        if len(means) == 2:
            papers = gain(row.kind, *means)
        return ours, papers

    def _first_better(self, name: str, record: Record, seed: int) -> float | None:
        other = self.records[name].get(seed)
        if other is None:
            return None
        metric = self.table.row(name).metric.removeprefix(ASIDE)  # curves are of dev
        return first_better(record, other, metric)


def score(record: Record, row: Row) -> float | None:
    """The number that is shown for a run's score in a row; None if it has none."""
    value = record["scores"].get(row.metric)
    if value is None:
        return None
    return row.kind.shown(float(value))


def error_of_means(high: list[float], low: list[float]) -> float:
    """
    The standard error of the difference of two means, each over two seeds or more.

        >>> error_of_means([1.0, 3.0], [0.0, 2.0])
        1.4142135623730951
    """
    return math.sqrt(stdev(high) ** 2 / len(high) + stdev(low) ** 2 / len(low))


def gain(metric: Metric, high: float, low: float, error: float | None = None) -> Gain:
    """
    The increase of one number of a metric over another, with its standard error.
    """
    relative = None
    if metric.is_share and low < 100:
        relative = 100 * (high - low) / (100 - low)
    return Gain(high - low, error, relative)


def first_better(record: Record, other: Record, metric: str) -> float | None:
    """
    The first epoch in which a run's score is better than the best of another run; None
    if there is none.
    """
    sign = 1 if metric_of(metric).higher_is_better else -1
    known = [sign * point[metric] for point in other["curve"] if metric in point]
    best = max(known, default=math.inf)
    for point in record["curve"]:
        if metric in point and sign * point[metric] > best:
            return float(point["epoch"])
    return None
