"""
Draws `tokens.svg`: what biLMs gain on NER and SST, against the tokens that they were
trained on, and against their perplexity.

The scores are those of `docs/results/tokens.jsonl`, the biLMs those of
`docs/results/tokens.json`.
"""

import json
from pathlib import Path
from statistics import mean, stdev

import matplotlib
import matplotlib.pyplot as plt

RESULTS = Path(__file__).parents[1] / "results"
INK = "#7a7f87"  # readable on white and on black
TASKS = {"ner": ("NER", "f1", "#2973b3"), "sst": ("SST-5", "accuracy", "#c75433")}
"""By the name of the rows: the label, the metric and the colour."""

Scores = dict[str, list[float]]
Point = tuple[float, float]
"""A gain and its standard error."""


def scores() -> Scores:
    """The scores of each row in percent, by seed."""
    found: Scores = {}
    lines = (RESULTS / "tokens.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in sorted(rows, key=lambda row: row["seed"]):
        _, metric, _ = TASKS[row["row"].partition("-")[0]]
        found.setdefault(row["row"], []).append(100 * row["scores"][metric])
    return found


def gain(found: Scores, task: str, bilm: str) -> Point:
    """The difference of two means, and its standard error."""
    baseline = found[f"{task}-baseline"]
    elmo = found[f"{task}-{bilm}"]
    squares = [stdev(values) ** 2 / len(values) for values in (baseline, elmo)]
    return mean(elmo) - mean(baseline), sum(squares) ** 0.5


def main() -> None:
    """Write the picture beside this file."""
    matplotlib.rcParams.update(
        {"svg.hashsalt": "tokens", "svg.fonttype": "none", "font.family": "sans-serif"}
    )
    bilms = json.loads((RESULTS / "tokens.json").read_text("utf-8"))
    found = scores()
    figure, both = plt.subplots(1, 2, figsize=(7.0, 2.8), sharey=True)
    for axes, key in zip(both, ("tokens", "perplexity"), strict=True):
        places = [bilm[key] for bilm in bilms.values()]
        for task, (label, _, colour) in TASKS.items():
            gains = [gain(found, task, name) for name in bilms]
            axes.errorbar(
                places,
                [value for value, _ in gains],
                yerr=[error for _, error in gains],
                marker="o",
                capsize=3,
                color=colour,
                label=label,
            )
        axes.set_xscale("log")
        axes.set_xticks(places, [ticks(key, place) for place in places])
        axes.minorticks_off()
        axes.axhline(0.0, color=INK, linewidth=0.8)
        axes.tick_params(colors=INK)
        for side in axes.spines.values():
            side.set_color(INK)
    both[0].set_xlabel("tokens", color=INK)
    both[0].set_ylabel("gain, points", color=INK)
    both[1].set_xlabel("held-out perplexity", color=INK)
    both[1].invert_xaxis()
    both[1].legend(frameon=False, labelcolor=INK)
    figure.savefig(
        Path(__file__).with_suffix(".svg"),
        bbox_inches="tight",
        metadata={"Date": None},
        transparent=True,
    )


def ticks(key: str, place: float) -> str:
    """What is written at a place of the axis."""
    if key == "tokens":
        return f"{place / 1e6:.0f} M"
    return f"{place:.0f}"


if __name__ == "__main__":
    main()
