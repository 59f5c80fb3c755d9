"""The picture of a run's learning curves."""

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes

from elmo_tasks.training.reports.curves import draw_curves


def test_curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for epoch in (0, 1, 10):
        scores = {
            "training_loss": 3.0 - epoch,
            "validation_loss": 4.0,
            "validation_f1": epoch / 10,
        }
        scores |= {
            "training_elmo_input_s0": epoch / 20,
            "training_elmo_input_gamma": 1.0,
        }
        (tmp_path / f"metrics_epoch_{epoch}.json").write_text(
            json.dumps(scores if epoch else scores | {"other": 1})
        )
    drawn: dict[str, Any] = {}
    plot = Axes.plot

    def watched(axis: Axes, x: Any, y: Any, **options: Any) -> Any:
        drawn[options["label"]] = (x, y)
        return plot(axis, x, y, **options)

    monkeypatch.setattr(Axes, "plot", watched)
    draw_curves(tmp_path, ["+f1", "+absent"])
    assert drawn["validation f1"] == ([1, 2, 11], [0.0, 0.1, 1.0])
    assert drawn["training loss"] == ([1, 2, 11], [3.0, 2.0, -7.0])
    assert drawn["ELMo input s0"] == ([1, 2, 11], [0.0, 0.05, 0.5])
    assert len(drawn) == 5 and (tmp_path / "curves.png").read_bytes().startswith(
        b"\x89PNG"
    )
