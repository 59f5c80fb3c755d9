"""Progress of language-model training: a log line every few steps, and a point of the learning curve per validation."""

import json
import logging
import math
import time
from pathlib import Path
from typing import Any

from allennlp.training.callbacks import TrainerCallback
from tqdm import tqdm

from elmo_tasks.errors import InputError, require_sizes
from elmo_tasks.files import atomic_write
from elmo_tasks.pretraining.data_loader import LmDataLoader

logger = logging.getLogger(__name__)

CURVE_FILE = "curve.jsonl"


@TrainerCallback.register("elmo_tasks_lm_progress")
class LmProgress(TrainerCallback):
    """
    Logs steps, tokens, training loss, speed and time left; writes `curve.jsonl`, which a resumed run continues.

    A line of `curve.jsonl`: `step`, `tokens` (seen, per direction), `seconds` (of the whole run), `training_loss` (nats
    per token over the epoch, of the sampled softmax if there is one) and the validation metrics. In distributed
    training, they are those of all processes.

    # Parameters

    - `serialization_dir`: the run's folder, given by the trainer.
    - `every`: steps between two log lines.

    Raises `InputError` if `every` is below 1, or the data loader is not `elmo_tasks_lm`.
    """

    def __init__(self, serialization_dir: str, every: int = 50) -> None:
        super().__init__(serialization_dir)
        require_sizes(every=every)
        self.every = every
        self.steps = self.tokens = 0
        self._points: list[dict[str, Any]] = []
        self._steps_before, self._seconds_before, self._started = 0, 0.0, time.perf_counter()

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        """Called after the trainer has restored its checkpoint."""
        if not isinstance(trainer.data_loader, LmDataLoader):
            found = type(trainer.data_loader).__name__
            raise InputError(f"elmo_tasks_lm_progress: expected the data loader elmo_tasks_lm, got {found}")
        self._steps_before, self._started = self.steps, time.perf_counter()

    def on_batch(
        self,
        trainer: Any,
        batch_inputs: list[Any],
        batch_outputs: list[dict[str, Any]],
        batch_metrics: dict[str, Any],
        *args: Any,
        is_training: bool,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """Counts a training step."""
        if not is_training:
            return
        self.steps += 1
        self.tokens += sum(outputs["tokens"] for outputs in batch_outputs)
        if is_primary and self.steps % self.every == 0:
            self._log(trainer, math.log(batch_metrics["perplexity"]))

    def on_epoch(
        self, trainer: Any, metrics: dict[str, Any], epoch: int, is_primary: bool = True, **kwargs: Any
    ) -> None:
        """Adds a point to the curve if the epoch ended with a validation."""
        prefix = "validation_"
        found = {name.removeprefix(prefix): value for name, value in metrics.items() if name.startswith(prefix)}
        if not found:
            return
        loss = math.log(metrics["training_perplexity"])
        point = {"step": self.steps, "tokens": self.tokens, "seconds": round(self._seconds(), 1)}
        self._points.append(point | {"training_loss": round(loss, 5)} | found)
        if is_primary:
            logger.info("validation after %s tokens: %s", f"{self.tokens:,}", json.dumps(found))
            with atomic_write(Path(self.serialization_dir) / CURVE_FILE) as temporary:
                temporary.write_text("".join(f"{json.dumps(point)}\n" for point in self._points), "utf-8")

    def on_end(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        """Closes the corpus: Python reports files that are still open when it exits."""
        if isinstance(trainer.data_loader, LmDataLoader):
            trainer.data_loader.release()

    def state_dict(self) -> dict[str, Any]:
        return {"steps": self.steps, "tokens": self.tokens, "seconds": self._seconds(), "points": list(self._points)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.steps, self.tokens = state_dict["steps"], state_dict["tokens"]
        self._seconds_before = state_dict["seconds"]
        self._points = list(state_dict.get("points", []))  # absent from checkpoints of 0.1.0

    def _seconds(self) -> float:
        return self._seconds_before + time.perf_counter() - self._started

    def _log(self, trainer: Any, loss: float) -> None:
        total = trainer._num_epochs * math.ceil(len(trainer.data_loader) / trainer._num_gradient_accumulation_steps)
        done, elapsed = self.steps - self._steps_before, time.perf_counter() - self._started
        speed = self.tokens / self.steps * done / elapsed
        meter = "step {n_fmt} of {total_fmt}, time left {remaining}"
        step = tqdm.format_meter(self.steps, total, elapsed, initial=self._steps_before, bar_format=meter)
        logger.info("%s: %s tokens, loss %.4f, %.0f tokens/s", step, f"{self.tokens:,}", loss, speed)
