"""The learning curves of a run as a picture."""

import json
import re
from pathlib import Path
from typing import Any

from elmo_tasks.files import atomic_write
from elmo_tasks.run_names import CURVES, epoch_metrics

_MIX = re.compile(r"(training|validation)_elmo_(input|output)_(s\d+|gamma)")


def draw_curves(folder: Path, metrics: str | list[str]) -> None:
    """
    Writes `curves.png` of the finished epochs in a run's folder: the training and the validation loss, of which the
    first is a mean over batches, with penalties, and the second one over texts or words; the scores that
    choose the best epoch, such as `+f1`; with ELMo, the layer weights and gamma of each place (Eq. 1).
    """
    import matplotlib  # it takes a second
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    files = epoch_metrics(folder)
    epochs: list[dict[str, Any]] = [
        json.loads(path.read_text("utf-8")) for path in files.values()
    ]
    chosen = [metrics] if isinstance(metrics, str) else metrics
    panels = [
        {"training_loss": "training loss"},
        {"validation_loss": "validation loss"},
        {
            f"validation_{name.lstrip('+-')}": f"validation {name.lstrip('+-')}"
            for name in chosen
        },
    ]
    mixes = _mixes(epochs[-1] if epochs else {})
    if mixes:
        panels.append(mixes)
    with matplotlib.rc_context(
        {"axes.spines.right": False, "axes.spines.top": False, "lines.marker": "."}
    ):
        figure = Figure(figsize=(4 * len(panels), 3), layout="constrained")
        for axis, labels in zip(figure.subplots(1, len(panels)), panels, strict=True):
            for name, label in labels.items():
                if any(name in epoch for epoch in epochs):
                    axis.plot(
                        [number + 1 for number in files],
                        [it.get(name) for it in epochs],
                        label=label,
                    )
                    axis.legend(fontsize="small")
            axis.set_xlabel("epoch")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    with atomic_write(folder / CURVES) as aside:
        figure.savefig(aside, format="png", dpi=120)


def _mixes(metrics: dict[str, Any]) -> dict[str, str]:
    """
    The metrics of ELMo's mixes and their labels: of the validated weights, which a moving average makes others than
    the trained ones, or of these where nothing is validated.
    """
    found: dict[str, dict[str, str]] = {"validation": {}, "training": {}}
    for name in metrics:
        if match := _MIX.fullmatch(name):
            found[match[1]][name] = f"ELMo {match[2]} {match[3]}"
    return found["validation"] or found["training"]
