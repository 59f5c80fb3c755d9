"""
Callbacks: the progress of a training; perplexity before and after fine-tuning (paper,
appendix A.1, Table 7).
"""

import json
import logging
import math
import time
from pathlib import Path
from typing import Any

from allennlp.training.callbacks import TrainerCallback
from overrides import overrides

from elmo_tasks.bilm.weights import save_options
from elmo_tasks.formats.text.marks import Marks
from elmo_tasks.pretraining.export import write_exported
from elmo_tasks.pretraining.scores.perplexity import perplexity
from elmo_tasks.settings import Count, PathLike, checked
from elmo_tasks.system.files import write_text
from elmo_tasks.system.run_names import CURVE, EXPORTED, OPTIONS_FILE, PERPLEXITIES

logger = logging.getLogger(__name__)

_VALIDATION = "validation_"
"""AllenNLP's prefix of the metrics of a validation."""


@TrainerCallback.register("elmo_tasks_lm_progress")
class LmProgress(TrainerCallback):
    """
    Logs each validation, and writes `curve.jsonl`, which a resumed run continues.

    A line of `curve.jsonl`: `step`, `tokens` (seen, per direction), `seconds` (of the
    whole run), `training_loss` (nats per token over the epoch, of the sampled softmax
    if there is one) and the validation metrics. In distributed training, they are those
    of all processes.
    """

    @checked
    def __init__(self, serialization_dir: PathLike) -> None:
        super().__init__(serialization_dir)
        self.steps = 0
        self.tokens = 0
        self._points: list[dict[str, Any]] = []
        self._seconds_before = 0.0
        self._started = time.perf_counter()

    @overrides
    def on_batch(
        self,
        trainer: Any,
        batch_inputs: list[Any],
        batch_outputs: list[dict[str, Any]],
        *args: Any,
        is_training: bool,
        **kwargs: Any,
    ) -> None:
        if is_training:
            self.steps += 1
            for outputs in batch_outputs:
                self.tokens += outputs["tokens"]

    @overrides
    def on_epoch(
        self,
        trainer: Any,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        scores = {}
        for name, value in metrics.items():
            if name.startswith(_VALIDATION):
                scores[name.removeprefix(_VALIDATION)] = value
        if not scores:
            return
        loss = math.log(metrics["training_perplexity"])
        point = {
            "step": self.steps,
            "tokens": self.tokens,
            "seconds": round(self._seconds(), 1),
            "training_loss": round(loss, 5),
        }
        self._points.append(point | scores)
        if is_primary:
            logger.info(
                "validation after %s tokens: %s", f"{self.tokens:,}", json.dumps(scores)
            )
            lines = [f"{json.dumps(each)}\n" for each in self._points]
            write_text(Path(self.serialization_dir) / CURVE, "".join(lines))

    @overrides
    def on_end(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        """Closes the corpus: Python reports files that are still open when it exits."""
        trainer.data_loader.release()

    @overrides
    def state_dict(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "tokens": self.tokens,
            "seconds": self._seconds(),
            "points": list(self._points),
        }

    @overrides
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.steps = state_dict["steps"]
        self.tokens = state_dict["tokens"]
        self._seconds_before = state_dict["seconds"]
        self._points = list(state_dict["points"])

    def _seconds(self) -> float:
        return self._seconds_before + time.perf_counter() - self._started


@TrainerCallback.register("elmo_tasks_tuning")
class Tuning(TrainerCallback):
    """
    Measures the perplexity (geometric mean of the directions, exact softmax) of the
    whole validation text before the first step and after the last one, and exports the
    tuned biLM.

    # Parameters

    - `softmax_epochs`: number of first epochs in which only a new softmax is trained and
      the biLM is frozen. Not in distributed training.

    In the run's folder: `perplexities.json` with `perplexity_before` (unless the biLM
    came without a softmax) and `perplexity`; `exported`, as `elmo-tasks bilm export` writes it.
    In distributed training only the primary process does.
    """

    @checked
    def __init__(self, serialization_dir: PathLike, softmax_epochs: Count = 0) -> None:
        super().__init__(serialization_dir)
        self._softmax_epochs = softmax_epochs

    @overrides
    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        """
        Called after the trainer has restored its checkpoint; a resumed run has already
        measured.
        """
        model = trainer.model
        folder = Path(self.serialization_dir)
        self.on_epoch(trainer, {}, trainer._start_after_epochs_completed - 1)
        if not is_primary or (folder / PERPLEXITIES).is_file():
            return
        save_options(model.language_model.bilm.options, folder / OPTIONS_FILE)
        before = {}
        if model.knows_words:
            before["perplexity_before"] = _measure(trainer)
        logger.info(
            "before fine-tuning: perplexity %s",
            before.get("perplexity_before", "unknown, the softmax is new"),
        )
        write_text(folder / PERPLEXITIES, json.dumps(before, indent=1))

    @overrides
    def on_epoch(
        self,
        trainer: Any,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """Called after an epoch: freezes the biLM for the next, or no longer."""
        if self._softmax_epochs:
            is_trained = epoch + 1 >= self._softmax_epochs
            trainer.model.language_model.bilm.requires_grad_(is_trained)

    @overrides
    def on_end(
        self,
        trainer: Any,
        metrics: dict[str, Any] | None = None,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """
        Called after the trainer has loaded the best weights; also after an error, and
        then does nothing.
        """
        if not is_primary or metrics is None:
            return
        model = trainer.model
        folder = Path(self.serialization_dir)
        found = json.loads((folder / PERPLEXITIES).read_text("utf-8"))
        found["perplexity"] = _measure(trainer)
        write_text(folder / PERPLEXITIES, json.dumps(found, indent=1))
        logger.info("after fine-tuning: %s", found)
        if found["perplexity"] > found.get("perplexity_before", found["perplexity"]):
            logger.warning(
                "fine-tuning increased the perplexity of this text: "
                "lower the learning rate"
            )
        (folder / EXPORTED).mkdir(exist_ok=True)
        write_exported(model.language_model, model.vocab.to_words(), folder / EXPORTED)


def _measure(trainer: Any) -> float:
    """The perplexity of the whole validation text, whose marks stay as in training."""
    model = trainer.model
    files = trainer._validation_data_loader.files
    vocabulary = model.vocab.to_words()
    reports = list(perplexity(model.language_model, vocabulary, files, marks=Marks()))
    _, report = reports[-1]  # over all files, if there are several
    return report.geometric
