"""
Draws `layers.svg`: each layer of the biLM alone, and all of them mixed, against the
tasks.

docs/results/layers.json has the scores, with expressions of docs/generate_tables.py
where runs give them. `make generated` runs this script.
"""

import json
from pathlib import Path
from statistics import mean

import matplotlib
import matplotlib.pyplot as plt

from docs.generate_tables import filled

ROWS = Path(__file__).parents[1] / "results/layers.json"
COLUMNS = {
    "without": "without",
    "0": "layer 0",
    "1": "layer 1",
    "2": "layer 2",
    "all": "all",
}
INK = "#7a7f87"  # readable on white and on black
GAIN = (0.16, 0.45, 0.70)
LOSS = (0.78, 0.33, 0.20)
NONE = (0.93, 0.93, 0.93)
STRONGEST = 10.0
"""The difference in points from which the colour is full."""


def number(text: str) -> float:
    """`73.0 ± 0.4`, or the scores of several seeds, `47.8, 47.9` -> their mean."""
    scores = text.partition(" ±")[0].split(", ")
    return mean(float(score) for score in scores)


def colour(difference: float) -> tuple[float, ...]:
    """White for none, blue for a gain, red for a loss."""
    full = GAIN if difference > 0 else LOSS
    share = min(1.0, abs(difference) / STRONGEST)
    return tuple(1 - share * (1 - part) for part in full)


def main() -> None:
    """Write the picture beside this file."""
    matplotlib.rcParams.update(
        {"svg.hashsalt": "layers", "svg.fonttype": "none", "font.family": "sans-serif"}
    )
    rows = json.loads(ROWS.read_text("utf-8"))
    figure, axes = plt.subplots(figsize=(7.0, 0.5 * len(rows) + 0.6))
    for x, name in enumerate(COLUMNS.values()):
        axes.text(x, -0.75, name, ha="center", va="center", fontsize=10, color=INK)
    for y, row in enumerate(rows):
        axes.text(
            -0.6, y - 0.14, row["row"], ha="right", va="center", fontsize=10, color=INK
        )
        axes.text(
            -0.6, y + 0.22, row["seeds"], ha="right", va="center", fontsize=7, color=INK
        )
        for x, key in enumerate(COLUMNS):
            draw(axes, x, y, row, key)
    axes.set(xlim=(-2.6, len(COLUMNS) - 0.5), ylim=(len(rows) - 0.5, -1.1))
    axes.set_axis_off()
    figure.savefig(
        Path(__file__).with_suffix(".svg"),
        bbox_inches="tight",
        metadata={"Date": None},
        transparent=True,
    )


def draw(axes: plt.Axes, x: int, y: int, row: dict[str, str], key: str) -> None:
    """
    One cell: the score, on the colour of its difference from the score without ELMo.
    """
    if key not in row:
        axes.text(x, y, "not run", ha="center", va="center", fontsize=8, color=INK)
        return
    score = number(filled(row[key]))
    difference = score - number(filled(row["without"]))
    fill = NONE if key == "without" else colour(difference)
    is_dark = abs(difference) > 0.6 * STRONGEST
    ink = "white" if is_dark else "#1c1c1c"
    axes.add_patch(plt.Rectangle((x - 0.47, y - 0.45), 0.94, 0.9, fc=fill, ec="none"))
    axes.text(x, y, f"{score:.1f}", ha="center", va="center", fontsize=10, color=ink)


if __name__ == "__main__":
    main()
