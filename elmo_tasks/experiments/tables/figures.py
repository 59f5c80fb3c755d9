"""
The figure of a table: its scores, scores over shares of the training data (the paper's
Figure 1), or layer weights (Figure 2).
"""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elmo_tasks.experiments.tables.results import Record, Summary
from elmo_tasks.experiments.tables.table import Row
from elmo_tasks.system.files import atomic_write

_COLORS = cycler(
    color=["#0072b2", "#d55e00", "#009e73", "#b8528f", "#996900", "#6e6e6e"]
)
_STYLE: Any = {
    "axes.grid": True,
    "axes.prop_cycle": cycler(linestyle=["-", "--", ":", "-."]) * _COLORS,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "#d0d0d0",
    "lines.marker": ".",
    "svg.fonttype": "none",
    "svg.hashsalt": "elmo-tasks",
    "text.parse_math": False,
}


_NARROW = 0.065
"""The weight below which its number does not fit into its part of the bar."""


class Drawing(NamedTuple):
    """A figure, the name of its files, and its caption."""

    name: str
    caption: str
    figure: Figure

    def image(self, kind: str) -> bytes:
        """The figure as `png` or `svg`; the same figure gives the same bytes."""
        image = BytesIO()
        with matplotlib.rc_context(_STYLE):
            date = {"Date": None} if kind == "svg" else {}
            self.figure.savefig(
                image, format=kind, dpi=200, bbox_inches="tight", metadata=date
            )
        return image.getvalue()


def draw(summary: Summary) -> list[Drawing]:
    """The figures whose data are there; of shares, one for each task."""
    charts = {None: _score_chart, "share": _share_charts, "weights": _weight_chart}
    with matplotlib.rc_context(_STYLE):
        return list(charts[summary.table.figure](summary))


def save_figures(summary: Summary, folder: Path) -> None:
    """
    Write each figure as PNG and SVG. Raises `InputError` if a file cannot be written.
    """
    for drawing in draw(summary):
        for kind in ("png", "svg"):
            with atomic_write(folder / f"{drawing.name}.{kind}") as aside:
                aside.write_bytes(drawing.image(kind))


def _axes(x_label: str, y_label: str) -> Axes:
    axes = Figure(figsize=(5.5, 3.3)).add_subplot()
    axes.set(xlabel=x_label, ylabel=y_label)
    return axes


def _drawing(axes: Any, kind: str, of: str, caption: str) -> Drawing:
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    name = "-".join([kind] + re.findall(r"\w+", of))
    return Drawing(name, caption, axes.figure)


def _score_chart(summary: Summary) -> Iterator[Drawing]:
    """For each column the scores of its rows that are shares of 1, in percent."""
    lines = summary.lines()
    axes = Figure(figsize=(5.5, 0.8 + 0.35 * len(lines))).add_subplot()
    axes.set(xlabel="score, %")
    has_scores = False
    for column in summary.columns:
        labels, means, deviations = [], [], []
        for line in lines:
            cell = line.cells[column]
            if cell is not None and cell.mean is not None and cell.metric.is_share:
                labels.append(line.label)
                means.append(cell.mean)
                deviations.append(cell.deviation or 0.0)
        if means:
            has_scores = True
            axes.errorbar(means, labels, xerr=deviations, label=column, linestyle="")
    if has_scores:
        axes.invert_yaxis()
        caption = "Scores; bars show the standard deviation over seeds."
        yield _drawing(axes, "scores", "", caption)


def _share_charts(summary: Summary) -> Iterator[Drawing]:
    """
    Figure 1: for each task the scores over the fraction of the training data, in
    percent.
    """
    charts: dict[str, Axes] = {}
    for row_label in dict.fromkeys([row.row_label for row in summary.rows]):
        points = _share_points(summary, row_label)
        if not points:
            continue
        task, _, label = row_label.partition(", ")
        if task not in charts:
            unit = ", %" if _is_share(summary, row_label) else ""
            charts[task] = _axes("share of the training data, %", f"score{unit}")
        shares, means, deviations = zip(*points, strict=True)
        charts[task].errorbar(shares, means, deviations, label=label or task)
    what = "over the share of the training data (the paper's Figure 1); bars show the standard deviation over seeds."
    for task, axes in charts.items():
        axes.set_xscale("log")
        yield _drawing(axes, "figure1", task, f"{task}: scores {what}")


def _is_share(summary: Summary, row_label: str) -> bool:
    """Whether the scores of a line are shares of 1."""
    rows = [row for row in summary.rows if row.row_label == row_label]
    return rows[0].cells[0].kind.is_share


def _share_points(summary: Summary, row_label: str) -> list[tuple[float, float, float]]:
    """
    By ascending share of the training data, in percent: share, mean score and standard
    deviation over seeds.
    """
    points = []
    for row in summary.rows:
        if row.row_label != row_label or row.fraction is None:
            continue
        found = summary.result(row, row.cells[0])
        if found.mean is not None:
            points.append((100 * row.fraction, found.mean, found.deviation or 0.0))
    return sorted(points)


def _weight_chart(summary: Summary) -> Iterator[Drawing]:
    """
    Figure 2: the layer weights of each row that learned any, means over seeds, first at
    the input.
    """
    bars: dict[str, list[float]] = {}
    for place in ("input", "output"):
        for row in summary.rows:
            weights = _mean_weights(summary, row, place)
            if weights:
                bars[f"{row.name}, {place}"] = weights
    if not bars:
        return
    axes = Figure(figsize=(5.5, 0.8 + 0.35 * len(bars))).add_subplot()
    for layer in range(max(map(len, bars.values()))):
        _draw_layer(axes, bars, layer)
    axes.invert_yaxis()
    axes.grid(visible=False)
    what = "Softmax-normalised layer weights that each row learned at ELMo's place, means over seeds (the paper's"
    yield _drawing(
        axes,
        "figure2",
        "",
        f"{what} Figure 2); layer 0 is that of the characters or embeddings.",
    )


def _draw_layer(axes: Axes, bars: dict[str, list[float]], layer: int) -> None:
    """
    The part of each bar that is the weight of a layer, to the right of those of the
    lower layers.
    """
    widths = [sum(weights[layer : layer + 1]) for weights in bars.values()]
    starts = [sum(weights[:layer]) for weights in bars.values()]
    drawn = axes.barh(
        list(bars),
        widths,
        left=starts,
        color=matplotlib.colormaps["Set3"](layer % 12),
        label=f"layer {layer}",
    )
    texts = []
    for width in widths:
        texts.append(f"{width:.2f}" if width >= _NARROW else "")
    axes.bar_label(drawn, texts, label_type="center")


def _mean_weights(summary: Summary, row: Row, place: str) -> list[float]:
    """
    The weights of a row's runs from layer 0 on, means over seeds; empty if none has
    learned any.
    """
    weights = []
    for record in summary.records[row.name].values():
        of_run = _weights(record, place)
        if of_run:
            weights.append(of_run)
    return [mean(layer) for layer in zip(*weights, strict=True)]


def _weights(record: Record, place: str) -> list[float]:
    """A run's softmax-normalised weights, from layer 0 on; empty if it has none."""
    scores = record["scores"]
    names = [f"elmo_{place}_s{layer}" for layer in range(len(scores))]
    return [scores[name] for name in names if name in scores]
