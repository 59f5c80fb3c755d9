"""The learning curves of a run as a picture."""

import json
import re
from pathlib import Path
from typing import Any

from elmo_tasks.files import atomic_write

CURVES = "curves.png"


def draw_curves(folder: Path, metrics: str | list[str]) -> None:
    """
    Writes `curves.png` of the finished epochs in a run's folder: the training and validation loss, and the scores that
    choose the best epoch, such as `+f1`.
    """
    import matplotlib  # it takes a second
    from matplotlib.figure import Figure

    files = {int(found[1]): path for path in folder.glob("metrics_epoch_*.json") if (found := _EPOCH.search(path.name))}
    epochs: list[dict[str, Any]] = [json.loads(files[number].read_text("utf-8")) for number in sorted(files)]
    numbers = [number + 1 for number in sorted(files)]
    chosen = [metrics] if isinstance(metrics, str) else metrics
    with matplotlib.rc_context({"axes.spines.right": False, "axes.spines.top": False, "lines.marker": "."}):
        figure = Figure(figsize=(8, 3), layout="constrained")
        losses, scores = figure.subplots(1, 2)
        names_of = {
            losses: ["training_loss", "validation_loss"],
            scores: [f"validation_{name.lstrip('+-')}" for name in chosen],
        }
        for axis, names in names_of.items():
            for name in names:
                if any(name in epoch for epoch in epochs):
                    axis.plot(numbers, [epoch.get(name) for epoch in epochs], label=name.replace("_", " "))
                    axis.legend()
            axis.set_xlabel("epoch")
    with atomic_write(folder / CURVES) as aside:
        figure.savefig(aside, format="png", dpi=120)


_EPOCH = re.compile(r"metrics_epoch_(\d+)\.json$")
