"""What AllenNLP's checkpoints lack for exact resumption."""

import os
import time
from datetime import timedelta
from typing import Any

from allennlp.common import util as common_util
from allennlp.training import GradientDescentTrainer
from allennlp.training import util as training_util
from allennlp.training.callbacks import TrainerCallback
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.run_names import epoch_metrics_name
from elmo_tasks.training.distributed import (
    all_gather_objects,
    process_count,
    process_rank,
)
from elmo_tasks.training.runtime_state import (
    on_cpu,
    random_state,
    save_runtime_state,
)


class RunState(TrainerCallback):
    """
    What AllenNLP's checkpoints lack: the random state, the position in the data, the
    sums of the epoch so far, metrics and duration so far, and whether the current
    weights are the best. The first of the callbacks.
    """

    def __init__(self, trainer: GradientDescentTrainer) -> None:
        super().__init__(trainer._serialization_dir)
        self.trainer = trainer
        self.saved: dict[str, Any] | None = None
        self._gathered: list[dict[str, Any]] = []
        self._loss = 0.0
        self._penalty: float | None = None
        self._metrics: dict[str, Any] = {}
        self._seconds_before = 0.0
        self._started = time.perf_counter()

    @overrides
    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        """Called after the trainer has restored its checkpoint."""
        self._started = time.perf_counter()

    @overrides
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
        """
        Sums as the trainer does, whose sums restart at 0 when resumed; other callbacks
        get the complete mean.
        """
        if not is_training:
            return
        self._loss += batch_metrics["batch_loss"]
        for outputs in batch_outputs:
            if "reg_loss" in outputs:
                penalty = outputs["reg_loss"] / len(batch_inputs)
                self._penalty = (self._penalty or 0.0) + penalty.item()
        batch_metrics.update(_means([(self._loss, self._penalty, batch_number)]))

    def complete_metrics(self, metrics: dict[str, float]) -> dict[str, float]:
        """The metrics of an epoch, including the part before it was interrupted."""
        batches = self.trainer._batches_in_epoch_completed
        if "loss" not in metrics:
            # Interrupted after the last batch, so that the trainer computes no metrics.
            computed = training_util.get_metrics(
                self.trainer.model,
                self._loss,
                self._penalty,
                None,
                None,
                num_batches=batches,
                reset=True,
            )
            metrics = computed | metrics
        sums = all_gather_objects((self._loss, self._penalty, batches))
        metrics.update(_means(sums))
        self._loss = 0.0
        self._penalty = None
        return metrics

    @overrides
    def on_epoch(
        self,
        trainer: Any,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """
        As in an uninterrupted run, metrics that only an earlier epoch had (of a label
        predicted once) are kept, and the duration is that of the whole run. Those of
        the best epoch are kept only if that epoch had them.
        """
        complete = self._metrics | metrics
        for name in _stale(complete, trainer._metric_tracker.best_epoch_metrics):
            del complete[name]
        if self._seconds_before:
            complete["training_duration"] = str(timedelta(seconds=self._seconds()))
        if list(complete.items()) != list(metrics.items()):
            metrics.clear()
            metrics.update(complete)
            if self.serialization_dir and is_primary:
                path = os.path.join(self.serialization_dir, epoch_metrics_name(epoch))
                common_util.dump_metrics(path, metrics)
        self._metrics = dict(metrics)

    def gather(self) -> None:
        """
        Gather the states of all processes for the next checkpoint; must be called by
        all processes.
        """
        if self.trainer._distributed:
            self._gathered = all_gather_objects(on_cpu(self._own_state()))

    @overrides
    def state_dict(self) -> dict[str, Any]:
        """
        The state of the first process, with the other processes' in distributed
        training.
        """
        first, *others = self._gathered or [self._own_state()]
        if others:
            first = first | {"others": others}
        return first

    def _own_state(self) -> dict[str, Any]:
        trainer = self.trainer
        is_validated = (
            trainer._batches_in_epoch_completed == 0
            and trainer._should_validate_this_epoch
        )
        scaler = trainer._scaler
        return {
            "random": random_state(),
            "position": trainer.data_loader.position(),
            "updates": trainer._total_batches_completed,
            "validates": trainer._should_validate_this_epoch,
            "best": is_validated and trainer._metric_tracker.is_best_so_far(),
            "loss": self._loss,
            "penalty": self._penalty,
            "metrics": self._metrics,
            "seconds": self._seconds(),
            "model": save_runtime_state(trainer.model),
            "scaler": None if scaler is None else scaler.state_dict(),
        }

    @overrides
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if "random" not in state_dict:  # the state of another trainer's first callback
            return
        states = [state_dict, *state_dict.get("others", [])]
        if len(states) != process_count():
            wanted = f"expected a checkpoint of {process_count()} processes"
            problem = f"{wanted}, got one of {len(states)}"
            raise InputError(problem, file=self.serialization_dir)
        own = states[process_rank()]
        self.saved = own
        self._loss = own["loss"]
        self._penalty = own["penalty"]
        self._metrics = own["metrics"]
        self._seconds_before = own["seconds"]

    def require_saved(self) -> dict[str, Any]:
        """
        The state in the checkpoint; raises `InputError` if another trainer wrote it.
        """
        if self.saved is None:
            raise InputError(
                "expected a run of the trainer elmo_tasks, got one of another trainer",
                file=self.serialization_dir,
                hint='set trainer.type to "gradient_descent" to continue it',
            )
        return self.saved

    def _seconds(self) -> float:
        return self._seconds_before + time.perf_counter() - self._started


def _stale(metrics: dict[str, Any], best: dict[str, Any]) -> list[str]:
    """
    The metrics under `best_validation_` that the best epoch did not have, but an
    earlier best one.
    """
    prefix = "best_validation_"
    found = []
    for name in metrics:
        if name.startswith(prefix) and name.removeprefix(prefix) not in best:
            found.append(name)
    return found


def _means(sums: list[tuple[float, float | None, int]]) -> dict[str, float]:
    """
    The means of `allennlp.training.util.get_metrics`, from each process's loss, penalty
    and number of batches.
    """
    batches = 0
    total = 0.0
    penalties = []
    for loss, penalty, count in sums:
        batches += count
        total += loss
        if penalty is not None:
            penalties.append(penalty)
    means = {"loss": 0.0}
    if batches:
        means["loss"] = total / batches
    if penalties:
        means["reg_loss"] = sum(penalties) / batches
    return means
