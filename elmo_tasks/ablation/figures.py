"""The figures of a report: scores over shares, learning curves and layer weights, with coordinates for their SVG."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, floor, log10
from statistics import mean, stdev
from typing import NamedTuple

from elmo_tasks.ablation.summary import Record, Summary, metric_of
from elmo_tasks.ablation.table import PERCENT, Row


class Point(NamedTuple):
    """A score, perhaps with its deviation over seeds."""

    x: float
    y: float
    deviation: float = 0.0


class Series(NamedTuple):
    """A line of a chart: the means over seeds, and each seed's points where there are several."""

    label: str
    points: list[Point]
    seeds: list[list[Point]]


class Weights(NamedTuple):
    """The layer weights of a row at one place, `input` or `output`: their means over seeds, from layer 0 on."""

    label: str
    place: str
    values: list[float]


@dataclass(frozen=True)
class Chart:
    """
    Series over a linear or a logarithmic x axis, and where they stand in a drawing of `width` by `height`.

    # Parameters

    caption, x_label, y_label : `str`
    series : `list[Series]`
        At least one, each with a point at least.
    logarithmic : `bool`
    """

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
        """The horizontal coordinate of a value; a single one stands in the middle."""
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
    """Figure 1: for each task a chart of the scores over the share of the training data, in percent."""
    lines: dict[str, list[Series]] = {}
    for line in summary.table.lines if summary.table.figure == "share" else ():
        task, _, label = line.partition(", ")
        if points := _shares(summary, line):
            lines.setdefault(task, []).append(Series(label or task, points, []))
    what = "over the share of the training data (the paper's Figure 1); bars show the standard deviation over seeds."
    return [
        Chart(f"{task}: scores {what}", "share of the training data, %", "score, %", series, logarithmic=True)
        for task, series in lines.items()
    ]


def _shares(summary: Summary, line: str) -> list[Point]:
    points = []
    for row in summary.table.rows:
        values = summary.shown(row, row.cells[0]).values if row.line == line else []
        if row.x is not None and values:
            points.append(Point(100 * row.x, mean(values), stdev(values) if len(values) > 1 else 0.0))
    return sorted(points)


def curve_charts(summary: Summary) -> list[Chart]:
    """For each line of the table and each of its metrics the scores after each epoch."""
    charts = []
    for line in summary.table.lines:
        found: dict[str, list[Series]] = {}
        for row in summary.table.rows:
            metric = metric_of(summary.table, row)
            if row.line == line and (series := _curve(summary, row, metric)):
                found.setdefault(metric, []).append(series)
        for metric, all_series in found.items():
            unit = ", %" if metric in PERCENT else ""
            caption = (
                f"{line}: {metric} on the development data after each epoch of training;"
                " thick lines are means over seeds, thin lines single seeds."
            )
            charts.append(Chart(caption, "epoch", f"{metric}{unit}", all_series))
    return charts


def _curve(summary: Summary, row: Row, metric: str) -> Series | None:
    """The mean is drawn as far as all seeds go."""
    factor = 100 if metric in PERCENT else 1
    curves = [record["curve"] for record in summary.records[row.name].values()]
    seeds = [[Point(p["epoch"], factor * p[metric]) for p in curve if metric in p] for curve in curves]
    seeds = [points for points in seeds if points]
    if not seeds:
        return None
    means = [Point(each[0].x, mean(point.y for point in each)) for each in zip(*seeds, strict=False)]
    return Series(row.name, means, seeds if len(seeds) > 1 else [])


def layer_weights(summary: Summary) -> list[Weights]:
    """Figure 2: of each row whose runs learned weights those at the input, then those at the output."""
    return [weights for place in ("input", "output") for weights in _at(summary, place)]


def _at(summary: Summary, place: str) -> Iterator[Weights]:
    for row in summary.table.rows:
        of_seeds = [_weights(record, place) for record in summary.records[row.name].values()]
        each = [weights for weights in of_seeds if weights]
        if each:
            yield Weights(row.name, place, [mean(layer) for layer in zip(*each, strict=True)])


def _weights(record: Record, place: str) -> list[float]:
    """The softmax-normalised weights of a run, which its scores hold; none for a mix of one layer."""
    pattern = re.compile(rf"elmo_{place}_s(\d+)")
    found = {int(match[1]): value for key, value in record["scores"].items() if (match := pattern.fullmatch(key))}
    return [found[layer] for layer in sorted(found)]
