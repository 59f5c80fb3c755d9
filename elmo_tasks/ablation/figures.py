"""Pictures of a summary, as SVG: Figure 1 (scores over shares), Figure 2 (layer weights), learning curves."""

import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import mean, stdev
from typing import Any, NamedTuple

from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from elmo_tasks.ablation.summary import Record, Summary, metric_of
from elmo_tasks.ablation.table import PERCENT, Row

LOW, HIGH = 1 / 3, 2 / 3
HATCHES = {"low": "----", "high": "oo", "middle": ""}
"""Horizontal lines below a third, speckles above two thirds (Figure 2)."""
COLOURS = ("#4269d0", "#ff725c", "#3ca951", "#efb118", "#a463f2", "#9c6b4e", "#6cc5b0", "#ff8ab7")
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "path",
    "svg.hashsalt": "elmo",
    "hatch.linewidth": 0.6,
}

_Series = tuple[str, list[float], list[float]]
"""Row, epochs and scores of a run."""


class Point(NamedTuple):
    """A mean over seeds and its deviation, over a share of the training data in percent."""

    share: float
    mean: float
    deviation: float


class Weights(NamedTuple):
    """The layer weights of a row at one place, `input` or `output`: their means over seeds, from layer 0 on."""

    label: str
    place: str
    values: list[float]


def shares(summary: Summary) -> dict[str, list[Point]]:
    """Of each line of the table its points, from the smallest share on."""
    found: dict[str, list[Point]] = {}
    for row in summary.table.rows:
        values = summary.shown(row, row.cells[0]).values
        if row.x is not None and values:
            deviation = stdev(values) if len(values) > 1 else 0.0
            found.setdefault(row.line, []).append(Point(100 * row.x, mean(values), deviation))
    return {line: sorted(points) for line, points in found.items()}


def layer_weights(summary: Summary) -> list[Weights]:
    """Of each row whose runs learned weights: those at the input, then those at the output."""
    found = []
    for place in ("input", "output"):
        for row in summary.table.rows:
            of_seeds = [_weights(record, place) for record in summary.records[row.name].values()]
            each = [weights for weights in of_seeds if weights]
            if each:
                found.append(Weights(row.name, place, [mean(layer) for layer in zip(*each, strict=True)]))
    return found


def _weights(record: Record, place: str) -> list[float]:
    """The softmax-normalised weights of a run, which its scores hold; none for a mix of one layer."""
    pattern = re.compile(rf"elmo_{place}_s(\d+)")
    found = {int(match[1]): value for key, value in record["scores"].items() if (match := pattern.fullmatch(key))}
    return [found[layer] for layer in sorted(found)]


def hatch_of(weight: float) -> str:
    """`low` below a third, `high` above two thirds, `middle` between."""
    return "low" if weight < LOW else "high" if weight > HIGH else "middle"


def figure1(summary: Summary) -> str | None:
    """Scores over shares, a picture for each task; None where there is no point yet."""
    lines = shares(summary)
    tasks = list(dict.fromkeys(line.partition(",")[0] for line in lines))
    if not tasks:
        return None
    with rc_context(STYLE):
        figure = Figure(figsize=(4.2 * len(tasks), 3.2), layout="constrained")
        for place, task in enumerate(tasks, start=1):
            axes = figure.add_subplot(1, len(tasks), place)
            own = {line: points for line, points in lines.items() if line.partition(",")[0] == task}
            _draw_shares(axes, own)
            axes.set_title(task)
        return _svg(figure)


def _draw_shares(axes: Axes, lines: dict[str, list[Point]]) -> None:
    for (line, points), colour in zip(lines.items(), COLOURS, strict=False):
        x, y, error = zip(*points, strict=True)
        label = line.partition(", ")[2] or line
        axes.errorbar(x, y, yerr=error, label=label, color=colour, marker="o", markersize=4, capsize=2)
    axes.set_xscale("log")
    axes.set_xlabel("share of the training data, %")
    axes.set_ylabel("score, %")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


def figure2(summary: Summary) -> str | None:
    """The layer weights as the paper draws them; None where no run has learned any."""
    columns = layer_weights(summary)
    if not columns:
        return None
    layers = max(len(column.values) for column in columns)
    with rc_context(STYLE):
        figure = Figure(figsize=(1.6 + 0.62 * len(columns), 2.0 + 0.34 * layers), layout="constrained")
        axes = figure.add_subplot()
        for place, column in enumerate(_with_gap(columns)):
            if column is not None:
                _draw_column(axes, place, column)
        _label_columns(axes, _with_gap(columns), layers)
        return _svg(figure)


def _with_gap(columns: list[Weights]) -> list[Weights | None]:
    """The columns, and a gap between those at the input and those at the output."""
    inputs = [column for column in columns if column.place == "input"]
    outputs = [column for column in columns if column.place == "output"]
    return [*inputs, *([None] if inputs and outputs else []), *outputs]


def _draw_column(axes: Axes, place: int, column: Weights) -> None:
    for layer, weight in enumerate(column.values):
        colour = colormaps["YlGnBu"](0.15 + 0.75 * weight)
        hatch = HATCHES[hatch_of(weight)]
        axes.add_patch(Rectangle((place, layer), 1, 1, facecolor=colour, edgecolor="#444444", hatch=hatch))
        text = axes.text(place + 0.5, layer + 0.5, f"{weight:.2f}", ha="center", va="center", fontsize=8)
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.85})


def _label_columns(axes: Axes, columns: list[Weights | None], layers: int) -> None:
    axes.set_xlim(0, len(columns))
    axes.set_ylim(0, layers)
    places = [place for place, column in enumerate(columns) if column is not None]
    axes.set_xticks([place + 0.5 for place in places])
    axes.set_xticklabels([c.label for c in columns if c is not None], rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks([layer + 0.5 for layer in range(layers)])
    axes.set_yticklabels([f"layer {layer}" if layer else "characters" for layer in range(layers)])
    axes.tick_params(length=0)
    for where in ("input", "output"):
        own = [place for place, column in enumerate(columns) if column is not None and column.place == where]
        if own:
            axes.text((own[0] + own[-1] + 1) / 2, layers + 0.15, where, ha="center")
    axes.spines[:].set_visible(False)


def curves(summary: Summary) -> list[tuple[str, str]]:
    """For each line of the table and each score of it: the line, and a curve over the epochs for each run, on dev."""
    drawn = []
    for line in summary.table.lines:
        series: dict[str, list[_Series]] = defaultdict(list)
        for row in summary.table.rows:
            if row.line == line:
                series[metric_of(summary.table, row)] += _series(summary, row)
        with rc_context(STYLE):
            drawn += [(line, _curve(found, metric)) for metric, found in series.items() if found]
    return drawn


def _series(summary: Summary, row: Row) -> Iterator[_Series]:
    metric = metric_of(summary.table, row)
    factor = 100 if metric in PERCENT else 1
    for record in summary.records[row.name].values():
        points = [(point["epoch"], factor * point[metric]) for point in record["curve"] if metric in point]
        if points:
            epochs, scores = zip(*points, strict=True)
            yield row.name, list(epochs), list(scores)


def _curve(series: Iterable[_Series], metric: str) -> str:
    figure = Figure(figsize=(5.2, 2.8), layout="constrained")
    axes = figure.add_subplot()
    colours: dict[str, str] = {}
    for name, epochs, scores in series:
        new = name not in colours
        colour = colours.setdefault(name, COLOURS[len(colours) % len(COLOURS)])
        marker: dict[str, Any] = {"marker": "o"} if len(epochs) == 1 else {}
        axes.plot(epochs, scores, color=colour, linewidth=1.2, alpha=0.8, label=name if new else None, **marker)
    axes.set_xlabel("epoch")
    axes.set_ylabel(f"{metric} on dev, %" if metric in PERCENT else metric)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return _svg(figure)


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
