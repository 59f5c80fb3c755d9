"""A line for each epoch of a training."""

import logging
import time
from datetime import timedelta
from typing import Any

from allennlp.training.callbacks import TrainerCallback

logger = logging.getLogger(__name__)


class EpochLines(TrainerCallback):
    """Logs loss, score, best score and time left after each epoch, and the best epoch at the end."""

    _began = 0.0
    _epochs = 0

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        self._began, self._epochs = time.perf_counter(), 0

    def on_epoch(
        self, trainer: Any, metrics: dict[str, Any], epoch: int, is_primary: bool = True, **kwargs: Any
    ) -> None:
        if not is_primary or "training_loss" not in metrics:
            return
        self._epochs += 1
        parts = [f"epoch {epoch + 1} of {trainer._num_epochs}", f"loss {metrics['training_loss']:.4g}"]
        for name in _tracked(trainer):
            if f"validation_{name}" in metrics:
                best = metrics.get(f"best_validation_{name}", metrics[f"validation_{name}"])
                parts.append(f"{name} {_shown(metrics[f'validation_{name}'])} (best {_shown(best)})")
        left = (trainer._num_epochs - epoch - 1) * (time.perf_counter() - self._began) / self._epochs
        logger.info("%s, at most %s left", ", ".join(parts), timedelta(seconds=round(left)))

    def on_end(
        self,
        trainer: Any,
        metrics: dict[str, Any] | None = None,
        epoch: int | None = None,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        if not is_primary or not metrics or "best_epoch" not in metrics:
            return
        scores = [
            f"{name} {_shown(metrics[f'best_validation_{name}'])}"
            for name in _tracked(trainer)
            if f"best_validation_{name}" in metrics
        ]
        logger.info("best epoch %s: %s", metrics["best_epoch"] + 1, ", ".join(scores) or "no validation")


def _tracked(trainer: Any) -> list[str]:
    """The names of the validation metrics that decide which epoch is the best."""
    return [name for _, name in trainer._metric_tracker.tracked_metrics]


def _shown(value: float) -> str:
    return f"{value:.4g}"
