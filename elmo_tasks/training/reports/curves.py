"""The learning curves of a run as a picture."""

import json
import re
from pathlib import Path
from typing import Any

from elmo_tasks.system.files import atomic_write
from elmo_tasks.system.run_names import CURVES, epoch_metrics

STYLE: dict[Any, Any] = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "lines.marker": ".",
}
_MIX = re.compile(r"(training|validation)_elmo_(input|output)_(s\d+|gamma)")


def draw_curves(folder: Path, metrics: str | list[str]) -> None:
    """
    Draw the finished epochs of a run to `curves.png` in its folder.

    It shows the training loss (the mean over batches, with penalties) and the
    validation loss (the mean over texts or words), the scores that choose the best
    epoch, such as `+f1`, and, with ELMo, the layer weights and gamma of each place (Eq.
    1).
    """
    import matplotlib  # it takes a second
    from matplotlib.figure import Figure

    if isinstance(metrics, str):
        metrics = [metrics]
    epochs: dict[int, dict[str, Any]] = {}
    for epoch, path in epoch_metrics(folder).items():
        epochs[epoch + 1] = json.loads(path.read_text("utf-8"))
    panels = [
        {"training_loss": "training loss"},
        {"validation_loss": "validation loss"},
        _scores(metrics),
    ]
    mixes = _mixes(epochs[max(epochs)] if epochs else {})
    if mixes:
        panels.append(mixes)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4 * len(panels), 3), layout="constrained")
        for axis, labels in zip(figure.subplots(1, len(panels)), panels, strict=True):
            _draw(axis, labels, epochs)
    with atomic_write(folder / CURVES) as aside:
        figure.savefig(aside, format="png", dpi=120)


def _draw(axis: Any, labels: dict[str, str], epochs: dict[int, dict[str, Any]]) -> None:
    """Draws metrics, given with their labels, over the epochs, counted from 1."""
    from matplotlib.ticker import MaxNLocator

    for name, label in labels.items():
        values = [found.get(name) for found in epochs.values()]
        if any(value is not None for value in values):
            axis.plot(list(epochs), values, label=label)
            axis.legend(fontsize="small")
    axis.set_xlabel("epoch")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def _scores(metrics: list[str]) -> dict[str, str]:
    """The validation metrics that choose the best epoch, and their labels."""
    found = {}
    for name in metrics:
        plain = name.lstrip("+-")
        found[f"validation_{plain}"] = f"validation {plain}"
    return found


def _mixes(metrics: dict[str, Any]) -> dict[str, str]:
    """
    The metrics of ELMo's mixes and their labels: of the validated weights, which a
    moving average makes others than the trained ones, or of these where nothing is
    validated.
    """
    found: dict[str, dict[str, str]] = {"validation": {}, "training": {}}
    for name in metrics:
        match = _MIX.fullmatch(name)
        if match is not None:
            found[match[1]][name] = f"ELMo {match[2]} {match[3]}"
    return found["validation"] or found["training"]
