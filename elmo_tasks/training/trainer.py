"""AllenNLP's trainer, which goes on after a break as if there had been none."""

import logging
import os
from pathlib import Path
from typing import Any

import torch
from allennlp.common import util as common_util
from allennlp.data.data_loaders import DataLoader
from allennlp.models import Model
from allennlp.training import GradientDescentTrainer, Trainer
from allennlp.training import util as training_util
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks.atomic import written_aside
from elmo_tasks.compat.checkpoints import damage
from elmo_tasks.errors import InputError
from elmo_tasks.training.memory import remember, remembered
from elmo_tasks.training.passes import followed
from elmo_tasks.training.randomness import random_state, set_random_state

logger = logging.getLogger(__name__)


@Trainer.register("elmo_tasks", constructor="from_partial_objects")
class ExactTrainer(GradientDescentTrainer):
    """
    `gradient_descent`, the keys and the numbers the same, but for `--recover`: a run killed at any moment and resumed
    ends with the same weights and metrics, bit for bit on one CPU, as the run left alone.

    A checkpoint also holds the random numbers, the place in the data, and what the epoch has added up so far
    (`RunMemory`). A run that was over is not trained further; epochs already done cost nothing.

    With several processes (`distributed`) it is `gradient_descent`.

    # Raises

    `InputError` where the data loader cannot tell where it stands (see `followed`), where the checkpoint is another
    trainer's, or where the best weights are needed and damaged.
    """

    _best_model_filename: str | None

    def __init__(self, model: Model, optimizer: torch.optim.Optimizer, data_loader: DataLoader, **options: Any) -> None:
        super().__init__(model, optimizer, data_loader, **options)
        self._memory: RunMemory | None = None
        if self._distributed:
            logger.warning("several processes: --recover goes on as AllenNLP does it, not bit for bit")
            return
        self.data_loader = followed(data_loader)
        self._memory = RunMemory(self)
        self._callbacks.insert(0, self._memory)

    def _try_train(self) -> tuple[dict[str, Any], int]:
        if self._memory is None or not self._is_resumed():
            return super()._try_train()
        saved = self._memory.require_saved()
        if self._best_model_filename is not None:  # the folder may have been moved
            self._best_model_filename = os.path.join(self._serialization_dir, "best.th")
        if saved["best"]:
            self._write_best()
        if self._is_over():
            self._take_final_weights()
            return dict(saved["metrics"]), self._start_after_epochs_completed - 1
        self._go_on(saved)
        return super()._try_train()

    def _train_epoch(self, epoch: int) -> dict[str, float]:
        if self._memory is None:
            return super()._train_epoch(epoch)
        if self._epochs_completed < self._start_after_epochs_completed:
            return {}  # done before the break; the data loader stands behind it
        return self._memory.of_whole_epoch(super()._train_epoch(epoch))

    def _is_resumed(self) -> bool:
        return self._start_after_epochs_completed + self._start_after_batches_in_epoch_completed > 0

    def _is_over(self) -> bool:
        """Whether the run had ended when its checkpoint was written; only the end of an epoch can end it."""
        at_end = self._start_after_batches_in_epoch_completed == 0
        done = self._start_after_epochs_completed >= self._num_epochs
        return at_end and (done or self._metric_tracker.should_stop_early())

    def _go_on(self, saved: dict[str, Any]) -> None:
        """Comes after the callbacks' `on_start`, right before the first batch; the random numbers come last."""
        steps = self._start_after_batches_in_epoch_completed
        self._total_batches_completed = saved["updates"] - steps
        self._should_validate_this_epoch = saved["validates"]
        if self._scaler is not None and saved["scaler"] is not None:
            self._scaler.load_state_dict(saved["scaler"])
        self.data_loader.resume(saved["position"], batches=steps * self._num_gradient_accumulation_steps)
        remember(self.model, saved["model"])
        set_random_state(saved["random"])

    def _write_best(self) -> None:
        """A run may be killed between the checkpoint of its best epoch and the writing of the best weights."""
        self._best_model_filename = os.path.join(self._serialization_dir, "best.th")
        if self._moving_average is not None:
            self._moving_average.assign_average_value()
        try:
            self._save_model_state(self._best_model_filename)
        finally:
            if self._moving_average is not None:
                self._moving_average.restore()

    def _take_final_weights(self) -> None:
        """What a run does when it ends: the weights of its best epoch, or the average of now."""
        if self._best_model_filename is None or self._metric_tracker.is_best_so_far():
            self._finalize_model()
        else:
            self._load_model_state(self._best_model_filename)

    def _save_model_state(self, path: str) -> None:
        with written_aside(path) as aside:
            super()._save_model_state(str(aside))

    def _load_model_state(self, path: str) -> None:
        if problem := damage(Path(path)):
            raise InputError(
                f"these weights of the best epoch, {self._metric_tracker.best_epoch}, are needed: {problem}",
                file=path,
                hint="train anew, or take a model_state_*.th of another epoch",
            )
        super()._load_model_state(path)


class RunMemory(TrainerCallback):
    """
    What AllenNLP's trainer leaves out of a checkpoint: random numbers, the place in the data, the sums of the epoch so
    far, the metrics so far, and whether the best weights are those of this moment. The first of the callbacks.
    """

    def __init__(self, trainer: ExactTrainer) -> None:
        super().__init__(trainer._serialization_dir)
        self.trainer: ExactTrainer = trainer
        self.saved: dict[str, Any] | None = None
        self._loss, self._penalty = 0.0, None
        self._metrics: dict[str, Any] = {}

    def on_batch(
        self,
        trainer: Any,
        batch_inputs: list[Any],
        batch_outputs: list[dict[str, Any]],
        batch_metrics: dict[str, Any],
        epoch: int,
        batch_number: int,
        is_training: bool,
        **kwargs: Any,
    ) -> None:
        """Adds up as the trainer does, whose own sums begin anew after a break; the others see the mean of both."""
        if not is_training:
            return
        self._loss += batch_metrics["batch_loss"]
        for outputs in batch_outputs:
            if "reg_loss" in outputs:
                self._penalty = (self._penalty or 0.0) + (outputs["reg_loss"] / len(batch_inputs)).item()
        batch_metrics.update(self._means(batch_number))

    def of_whole_epoch(self, metrics: dict[str, float]) -> dict[str, float]:
        """The metrics of an epoch of training, also of what it did before the break."""
        trainer, batches = self.trainer, self.trainer._batches_in_epoch_completed
        if "loss" not in metrics:  # the break came after the last batch; the trainer has nothing to count then
            counted = training_util.get_metrics(
                trainer.model, self._loss, self._penalty, None, None, num_batches=batches, reset=True
            )
            metrics = counted | metrics
        metrics.update(self._means(batches))
        self._loss, self._penalty = 0.0, None
        return metrics

    def on_epoch(
        self, trainer: Any, metrics: dict[str, Any], epoch: int, is_primary: bool = True, **kwargs: Any
    ) -> None:
        """A name that only an earlier epoch had (a label predicted once) stays in the metrics, also after a break."""
        whole = self._metrics | metrics
        if list(whole.items()) != list(metrics.items()):
            metrics.clear()
            metrics.update(whole)
            if self.serialization_dir:
                common_util.dump_metrics(os.path.join(self.serialization_dir, f"metrics_epoch_{epoch}.json"), metrics)
        self._metrics = dict(metrics)

    def state_dict(self) -> dict[str, Any]:
        trainer = self.trainer
        at_end = trainer._batches_in_epoch_completed == 0
        return {
            "random": random_state(),
            "position": trainer.data_loader.position(),
            "updates": trainer._total_batches_completed,
            "validates": trainer._should_validate_this_epoch,
            "best": at_end and trainer._should_validate_this_epoch and trainer._metric_tracker.is_best_so_far(),
            "loss": self._loss,
            "penalty": self._penalty,
            "metrics": self._metrics,
            "model": remembered(trainer.model),
            "scaler": None if trainer._scaler is None else trainer._scaler.state_dict(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if "random" in state_dict:  # else it is the state of a callback that another trainer had in this place
            self.saved = state_dict
            self._loss, self._penalty = state_dict["loss"], state_dict["penalty"]
            self._metrics = state_dict["metrics"]

    def require_saved(self) -> dict[str, Any]:
        """
        What the checkpoint held.

        # Raises

        `InputError` where another trainer wrote it.
        """
        if self.saved is None:
            raise InputError(
                "this run was trained with another trainer than elmo_tasks",
                file=self.serialization_dir,
                hint='set trainer.type to "gradient_descent" to go on with it',
            )
        return self.saved

    def _means(self, batches: int) -> dict[str, float]:
        """As `allennlp.training.util.get_metrics` has them."""
        means = {"loss": self._loss / batches if batches else 0.0}
        return means if self._penalty is None else means | {"reg_loss": self._penalty / batches}
