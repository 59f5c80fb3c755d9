"""What a long language-model training tells: a line every few steps, a point of the curve every validation."""

import json
import logging
import math
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from allennlp.training.callbacks import TrainerCallback

from elmo_tasks.atomic import atomic_write
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.data_loader import LmDataLoader

logger = logging.getLogger(__name__)

CURVE_FILE = "curve.jsonl"


class _Mean:
    """A mean over batches, weighted by their tokens."""

    def __init__(self, tokens: int = 0, total: float = 0.0) -> None:
        self.tokens, self.total = tokens, total

    def add(self, value: float, tokens: int) -> None:
        self.tokens += tokens
        self.total += value * tokens

    @property
    def value(self) -> float:
        return self.total / self.tokens if self.tokens else math.nan


@TrainerCallback.register("elmo_tasks_lm_progress")
class LmProgress(TrainerCallback):
    """
    Logs speed, tokens seen, training loss and time left; writes `curve.jsonl`, which a run resumed with `--recover`
    goes on with.

    A line of `curve.jsonl`: `step`, `tokens` (seen, per direction), `seconds` (of the whole run, validations and
    earlier processes included), `training_loss` (nats a token since the validation before, of the sampled softmax
    where there is one) and the validation's metrics. In a distributed training, all of it is over all processes.

    # Parameters

    serialization_dir : `str`
        The run's folder, given by the trainer.
    every : `int`
        Steps from one logged line to the next.

    # Raises

    `InputError` where `every` is below 1, or the data loader is not `elmo_tasks_lm`.
    """

    def __init__(self, serialization_dir: str, every: int = 50) -> None:
        super().__init__(serialization_dir)
        if every < 1:
            raise InputError(f"elmo_tasks_lm_progress: every must be at least 1, found {every}")
        self.curve_file = Path(serialization_dir) / CURVE_FILE
        self.every = every
        self.steps = self.tokens = 0
        self._seconds_before = 0.0
        self._steps_left = 0
        self._steps_here = 0
        self._began = self._logged_at = time.perf_counter()
        self._since_log, self._since_validation = _Mean(), _Mean()
        self._loader: LmDataLoader | None = None

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        """Comes after the trainer has restored its checkpoint, before it asks for the first batch."""
        self._loader = _loader_of(trainer)
        steps = math.ceil(len(self._loader) / trainer._num_gradient_accumulation_steps)
        self._steps_left = trainer._num_epochs * steps - self.steps
        self._began = self._logged_at = time.perf_counter()
        if is_primary:
            self._drop_later_points()

    def on_batch(
        self,
        trainer: Any,
        batch_inputs: list[Any],
        batch_outputs: list[dict[str, Any]],
        batch_metrics: dict[str, Any],
        epoch: int,
        batch_number: int,
        is_training: bool,
        is_primary: bool = True,
        batch_grad_norm: float | None = None,
        **kwargs: Any,
    ) -> None:
        """Counts a training step."""
        if not is_training:
            return
        self.steps += 1
        self._steps_here += 1
        self._steps_left -= 1
        for outputs in batch_outputs:
            self.tokens += outputs["tokens"]
            for mean in (self._since_log, self._since_validation):
                mean.add(float(outputs["nll"]), outputs["tokens"])
        if is_primary and self.steps % self.every == 0:
            self._log(batch_grad_norm)

    def on_epoch(
        self,
        trainer: Any,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """Adds a point to the curve, where the epoch was validated."""
        prefix = "validation_"
        found = {name.removeprefix(prefix): value for name, value in metrics.items() if name.startswith(prefix)}
        if is_primary and found:
            self._add_point(found)
        self._since_validation = _Mean()
        self._since_log, self._logged_at = _Mean(), time.perf_counter()

    def on_end(
        self,
        trainer: Any,
        metrics: dict[str, Any] | None = None,
        epoch: int | None = None,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """Closes the corpus: files still open when Python exits would be reported as errors."""
        if self._loader is not None:
            self._loader.release()

    def state_dict(self) -> dict[str, Any]:
        """The counts, for a checkpoint."""
        mean = self._since_validation
        return {
            "steps": self.steps,
            "tokens": self.tokens,
            "seconds": self._seconds(),
            "since_validation": [mean.tokens, mean.total],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.steps, self.tokens = state_dict["steps"], state_dict["tokens"]
        self._seconds_before = state_dict["seconds"]
        self._since_validation = _Mean(*state_dict["since_validation"])

    def _seconds(self) -> float:
        return self._seconds_before + time.perf_counter() - self._began

    def _log(self, gradient_norm: float | None) -> None:
        now = time.perf_counter()
        speed = self._since_log.tokens / (now - self._logged_at)
        left = (now - self._began) / self._steps_here * self._steps_left
        logger.info(
            "step %d: %s tokens, loss %.4f, %.0f tokens/s, gradient norm %s, time left %s",
            self.steps,
            f"{self.tokens:,}",
            self._since_log.value,
            speed,
            "not known" if gradient_norm is None else f"{gradient_norm:.3f}",
            timedelta(seconds=round(left)),
        )
        self._since_log, self._logged_at = _Mean(), now

    def _add_point(self, found: dict[str, Any]) -> None:
        point = {
            "step": self.steps,
            "tokens": self.tokens,
            "seconds": round(self._seconds(), 1),
            "training_loss": round(self._since_validation.value, 5),
        }
        with self.curve_file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(point | found) + "\n")
        logger.info("validation after %s tokens: %s", f"{self.tokens:,}", json.dumps(found))

    def _drop_later_points(self) -> None:
        """A run killed between a validation and its checkpoint comes to that validation again."""
        if not self.curve_file.exists():
            return
        lines = self.curve_file.read_text("utf-8").splitlines()
        kept = [line for line in lines if _step_of(line) <= self.steps]
        if kept != lines:
            with atomic_write(self.curve_file) as aside:
                aside.write_text("".join(f"{line}\n" for line in kept), "utf-8")


def _loader_of(trainer: Any) -> LmDataLoader:
    loader = trainer.data_loader
    if not isinstance(loader, LmDataLoader):
        found = type(loader).__name__
        raise InputError(f"elmo_tasks_lm_progress goes with the data loader elmo_tasks_lm, found {found}")
    return loader


def _step_of(line: str) -> float:
    """The step of a curve's line; infinite where the line was cut short."""
    try:
        return json.loads(line)["step"]
    except (ValueError, KeyError, TypeError):
        return math.inf
