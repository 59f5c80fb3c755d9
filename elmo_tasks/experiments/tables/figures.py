"""The figures of a report: scores over shares, learning curves, layer weights; with coordinates for their SVG."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import mean
from typing import NamedTuple

from elmo_tasks.experiments.tables.results import Record, Summary, curve_metric
from elmo_tasks.experiments.tables.table import PERCENT, Row


class Point(NamedTuple):
    """A score and its deviation over seeds."""

    x: float
    y: float
    deviation: float = 0.0


class Series(NamedTuple):
    """A line of a chart: the means over seeds, and the points of each seed if there are several."""

    label: str
    points: list[Point]
    seeds: list[list[Point]]


class Weights(NamedTuple):
    """A row's layer weights at the `input` or `output`: means over seeds, from layer 0 on."""

    label: str
    place: str
    values: list[float]


@dataclass(frozen=True)
class Chart:
    """Series, each with at least one point, over a linear or logarithmic x axis, and their coordinates in a drawing."""

    caption: str
    x_label: str
    y_label: str
    series: list[Series]
    logarithmic: bool = False
    width: int = 420
    height: int = 250
    left: int = 40
    bottom: int = 210

    @property
    def x_ticks(self) -> list[float]:
        """Powers of ten, or whole numbers."""
        low, high = self._range(lambda point: [point.x])
        if self.logarithmic:
            return [10.0**power for power in range(ceil(log10(low)), floor(log10(high)) + 1)]
        return _ticks(low, high, smallest=1.0)

    @property
    def y_ticks(self) -> list[float]:
        """Round numbers."""
        return _ticks(*self._y_range())

    def x(self, value: float) -> float:
        """The horizontal coordinate of a value; a single value is centred."""
        low, high = self._range(lambda point: [point.x])
        if self.logarithmic:
            low, high, value = log10(low), log10(high), log10(value)
        part = (value - low) / (high - low) if high > low else 0.5
        return round(self.left + 8 + part * (self.width - self.left - 22), 1)

    def y(self, value: float) -> float:
        """The vertical coordinate of a value."""
        low, high = self._y_range()
        return round(self.bottom - (value - low) / (high - low) * (self.bottom - 10), 1)

    def path(self, points: list[Point]) -> str:
        """The `points` of a polyline."""
        return " ".join(f"{self.x(point.x)},{self.y(point.y)}" for point in points)

    def _y_range(self) -> tuple[float, float]:
        low, high = self._range(lambda point: [point.y - point.deviation, point.y + point.deviation])
        margin = 0.05 * (high - low) or 1.0
        return low - margin, high + margin

    def _range(self, values: Callable[[Point], list[float]]) -> tuple[float, float]:
        lines = [line for series in self.series for line in (series.points, *series.seeds)]
        found = [value for line in lines for point in line for value in values(point)]
        return min(found), max(found)


def _ticks(low: float, high: float, *, smallest: float = 0.0, most: int = 6) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    least = max((high - low) / most, smallest, 1e-6)
    power = 10.0 ** floor(log10(least))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= 0.999 * least)
    return [round(place * step, 6) for place in range(ceil(low / step), floor(high / step) + 1)]


def share_charts(summary: Summary) -> list[Chart]:
    """Figure 1: for each task a chart of the scores over the fraction of the training data, in percent."""
    tasks: dict[str, list[Series]] = {}
    for row_label in summary.table.row_labels if summary.table.figure == "share" else ():
        task, _, label = row_label.partition(", ")
        if points := _share_points(summary, row_label):
            tasks.setdefault(task, []).append(Series(label or task, points, []))
    what = "over the share of the training data (the paper's Figure 1); bars show the standard deviation over seeds."
    return [
        Chart(f"{task}: scores {what}", "share of the training data, %", "score, %", series, logarithmic=True)
        for task, series in tasks.items()
    ]


def _share_points(summary: Summary, row_label: str) -> list[Point]:
    rows = [row for row in summary.table.rows if row.row_label == row_label and row.fraction is not None]
    shown = [(100 * (row.fraction or 0), summary.result(row, row.cells[0])) for row in rows]
    return sorted(Point(x, cell.mean, cell.deviation or 0.0) for x, cell in shown if cell.mean is not None)


def curve_charts(summary: Summary) -> list[Chart]:
    """For each row label and metric a chart of the scores after each epoch."""
    charts: dict[tuple[str, str], list[Series]] = {}
    for row in summary.table.rows:
        metric = curve_metric(summary.table, row)
        if series := _curve(summary, row, metric):
            charts.setdefault((row.row_label, metric), []).append(series)
    what = "on the development data after each epoch of training; thick lines are means over seeds, thin lines seeds."
    return [
        Chart(f"{label}: {metric} {what}", "epoch", metric + (", %" if metric in PERCENT else ""), series)
        for (label, metric), series in charts.items()
    ]


def _curve(summary: Summary, row: Row, metric: str) -> Series | None:
    """The mean is drawn for the epochs that all seeds have."""
    factor = 100 if metric in PERCENT else 1
    curves = [record["curve"] for record in summary.records[row.name].values()]
    seeds = [[Point(p["epoch"], factor * p[metric]) for p in curve if metric in p] for curve in curves]
    seeds = [points for points in seeds if points]
    if not seeds:
        return None
    means = [Point(each[0].x, mean(point.y for point in each)) for each in zip(*seeds, strict=False)]
    return Series(row.name, means, seeds if len(seeds) > 1 else [])


def layer_weights(summary: Summary) -> list[Weights]:
    """Figure 2: the layer weights of each row that learned any, first at the input, then at the output."""
    found = []
    for place in ("input", "output"):
        for row in summary.table.rows:
            seeds = [_weights(record, place) for record in summary.records[row.name].values()]
            if any(seeds):
                found.append(
                    Weights(row.name, place, [mean(layer) for layer in zip(*filter(None, seeds), strict=True)])
                )
    return found


def _weights(record: Record, place: str) -> list[float]:
    """A run's softmax-normalised weights, from layer 0 on; empty if it has none."""
    scores, name = record["scores"], f"elmo_{place}_s"
    return [scores[f"{name}{layer}"] for layer in range(len(scores)) if f"{name}{layer}" in scores]
