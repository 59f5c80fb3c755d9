"""AllenNLP's trainer, which goes on after a break as if there had been none."""

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from allennlp.common import util as common_util
from allennlp.data.data_loaders import DataLoader
from allennlp.models import Model
from allennlp.training import GradientDescentTrainer, Trainer
from allennlp.training import util as training_util
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.trainer import TrainerCheckpoint

from elmo_tasks.atomic import atomic_write
from elmo_tasks.compat.checkpoints import damage
from elmo_tasks.errors import InputError
from elmo_tasks.training.distributed import all_gather_objects, process_count, process_rank
from elmo_tasks.training.resumable import followed
from elmo_tasks.training.rng_state import random_state, set_random_state
from elmo_tasks.training.runtime_state import extra_states, load_runtime_state, on_cpu, save_runtime_state


@Trainer.register("elmo_tasks", constructor="from_partial_objects")
class ResumableTrainer(GradientDescentTrainer):
    """
    `gradient_descent`, the keys and the numbers the same, but for `--recover`: a run killed at any moment and resumed
    ends with the same weights and metrics, bit for bit on one CPU, as the run left alone.

    A checkpoint also holds the random numbers, the place in the data, and what the epoch has added up so far
    (`RunMemory`). A run that was over is not trained further; epochs already done cost nothing.

    With several processes (`distributed`) the checkpoint holds this for each of them, and each draws random numbers of
    its own.

    # Raises

    `InputError` where the data loader cannot tell where it stands (see `followed`), where the checkpoint is another
    trainer's or of another number of processes, or where the best weights are needed and damaged.
    """

    _best_model_filename: str | None

    def __init__(self, model: Model, optimizer: torch.optim.Optimizer, data_loader: DataLoader, **options: Any) -> None:
        super().__init__(model, optimizer, data_loader, **options)
        self.data_loader = followed(data_loader)
        self._memory = RunMemory(self)
        self._callbacks.insert(0, self._memory)
        if self._checkpointer is not None and not self._checkpointer.state_is_sharded:
            self._checkpointer._rank = self._rank  # each machine has its own folder, and removes old checkpoints there
        if process_rank() > 0:  # else all processes would drop the same units
            torch.manual_seed(torch.initial_seed() + process_rank())

    def _try_train(self) -> tuple[dict[str, Any], int]:
        if not self._is_resumed():
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
        if self._epochs_completed < self._start_after_epochs_completed:
            return {}  # done before the break; the data loader stands behind it
        return self._memory.of_whole_epoch(super()._train_epoch(epoch))

    def get_checkpoint_state(self) -> TrainerCheckpoint | None:
        """AllenNLP's, which only the first process of a node has; all processes must call it."""
        self._memory.gather()
        return super().get_checkpoint_state()

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
        load_runtime_state(self.model, saved["model"])
        for path, state in saved.get("extra", {}).items():
            self.model.get_submodule(path).set_extra_state(state)
        set_random_state(saved["random"])

    def _write_best(self) -> None:
        """A run may be killed between the checkpoint of its best epoch and the writing of the best weights."""
        self._best_model_filename = os.path.join(self._serialization_dir, "best.th")
        if not self._primary:
            return
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
        with atomic_write(path) as aside:
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
    far, the metrics so far, the seconds so far, and whether the best weights are those of this moment. The first of the
    callbacks.
    """

    def __init__(self, trainer: ResumableTrainer) -> None:
        super().__init__(trainer._serialization_dir)
        self.trainer: ResumableTrainer = trainer
        self.saved: dict[str, Any] | None = None
        self._states: list[dict[str, Any]] = []
        self._loss, self._penalty = 0.0, None
        self._metrics: dict[str, Any] = {}
        self._seconds_before, self._began = 0.0, time.perf_counter()

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        """Comes after the trainer has restored its checkpoint."""
        self._began = time.perf_counter()

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
        batch_metrics.update(_means([(self._loss, self._penalty, batch_number)]))

    def of_whole_epoch(self, metrics: dict[str, float]) -> dict[str, float]:
        """The metrics of an epoch of training, also of what it did before the break."""
        trainer, batches = self.trainer, self.trainer._batches_in_epoch_completed
        if "loss" not in metrics:  # the break came after the last batch; the trainer has nothing to count then
            counted = training_util.get_metrics(
                trainer.model, self._loss, self._penalty, None, None, num_batches=batches, reset=True
            )
            metrics = counted | metrics
        metrics.update(_means(all_gather_objects((self._loss, self._penalty, batches))))
        self._loss, self._penalty = 0.0, None
        return metrics

    def on_epoch(
        self, trainer: Any, metrics: dict[str, Any], epoch: int, is_primary: bool = True, **kwargs: Any
    ) -> None:
        """
        A name that only an earlier epoch had (a label predicted once) stays in the metrics, also after a break; the
        duration counts the parts before the break.
        """
        whole = self._metrics | metrics
        if self._seconds_before:
            whole["training_duration"] = str(timedelta(seconds=self._seconds()))
        if list(whole.items()) != list(metrics.items()):
            metrics.clear()
            metrics.update(whole)
            if self.serialization_dir and is_primary:
                common_util.dump_metrics(os.path.join(self.serialization_dir, f"metrics_epoch_{epoch}.json"), metrics)
        self._metrics = dict(metrics)

    def gather(self) -> None:
        """Take the states of all processes for the next checkpoint; all processes must call it."""
        if self.trainer._distributed:
            extra = {"extra": extra_states(self.trainer.model)}
            self._states = all_gather_objects(on_cpu(self._own_state() | extra))

    def state_dict(self) -> dict[str, Any]:
        """The state of the first process, and in a distributed training those of the others with it."""
        first, *others = self._states or [self._own_state()]
        return first | {"others": others} if others else first

    def _own_state(self) -> dict[str, Any]:
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
            "seconds": self._seconds(),
            "model": save_runtime_state(trainer.model),
            "scaler": None if trainer._scaler is None else trainer._scaler.state_dict(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if "random" not in state_dict:  # the state of a callback that another trainer had in this place
            return
        states = [state_dict, *state_dict.get("others", [])]
        if len(states) != process_count():
            raise InputError(
                f"expected a checkpoint of {process_count()} processes, got one of {len(states)}",
                file=self.serialization_dir,
            )
        self.saved = own = states[process_rank()]
        self._loss, self._penalty, self._metrics = own["loss"], own["penalty"], own["metrics"]
        self._seconds_before = own.get("seconds", 0.0)  # checkpoints of earlier versions have none

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

    def _seconds(self) -> float:
        """Of training, that before a break included."""
        return self._seconds_before + time.perf_counter() - self._began


def _means(sums: list[tuple[float, float | None, int]]) -> dict[str, float]:
    """The means of `allennlp.training.util.get_metrics` over each process's loss, penalty and number of batches."""
    batches = sum(count for _, _, count in sums)
    means = {"loss": sum(loss for loss, _, _ in sums) / batches if batches else 0.0}
    penalties = [penalty for _, penalty, _ in sums if penalty is not None]
    return means | {"reg_loss": sum(penalties) / batches} if penalties else means
