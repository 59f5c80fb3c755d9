"""
What AllenNLP's checkpoints lack for exact resumption, as plain data: the state of the
run, and what its model keeps between batches outside its state dict (counts of metrics,
carried states).
"""

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy
import torch
from allennlp.common import util as common_util
from allennlp.training import GradientDescentTrainer
from allennlp.training import util as training_util
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_tasks.errors import InputError
from elmo_tasks.system.files import file_sha256
from elmo_tasks.system.run_names import VOCABULARY, epoch_metrics_name
from elmo_tasks.training.config import items, mapped
from elmo_tasks.training.distributed import (
    all_gather_objects,
    process_count,
    process_rank,
)
from elmo_tasks.training.folder import vocabulary_files
from elmo_tasks.training.resume.resumable import random_state

SCALARS = (bool, int, float, str, type(None), numpy.generic)
PLAIN = (*SCALARS, torch.Tensor, numpy.ndarray)


@runtime_checkable
class Carrying(Protocol):
    """A module that carries states from one batch to the next."""

    def carried_states(self) -> Any:
        """The states as plain data, for a checkpoint."""

    def set_carried_states(self, states: Any) -> None:
        """Restore what `carried_states` returned."""


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
        metrics.update(_means(all_gather_objects((self._loss, self._penalty, batches))))
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
        of_best = trainer._metric_tracker.best_epoch_metrics
        for name in list(complete):
            of_epoch = name.removeprefix("best_validation_")
            if of_epoch != name and of_epoch not in of_best:
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
            "vocabulary": self._vocabulary,
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
        lacking = self._own_state().keys() - own.keys()
        if lacking:
            raise InputError(
                f"expected a checkpoint of this version, got one without {min(lacking)!r}",
                file=self.serialization_dir,
                hint="continue it with the version that began it, or start another run",
            )
        if own["vocabulary"] != self._vocabulary:
            raise InputError(
                "expected the vocabulary that the run began with, got another one",
                file=os.path.join(self.serialization_dir, VOCABULARY),
                hint="restore it, or start another run",
            )
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

    @cached_property
    def _vocabulary(self) -> dict[str, str]:
        """The SHA-256 of the files of the run's vocabulary, by their names."""
        files = vocabulary_files(Path(self.serialization_dir))
        return {file.name: file_sha256(file) for file in files}

    def _seconds(self) -> float:
        return self._seconds_before + time.perf_counter() - self._started


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


def save_runtime_state(model: torch.nn.Module) -> dict[str, Any]:
    """
    Plain data for a checkpoint: the plain attributes of each metric, and the carried
    states. Other attributes, such as a vocabulary, come from the config.
    """
    counts: dict[str, dict[str, Any]] = {}
    for path, metric in _metrics(model):
        plain = {}
        for name, value in vars(metric).items():
            if _is_plain(value):
                plain[name] = mapped(value, _without_array)
        counts[path] = plain
    carried = {path: module.carried_states() for path, module in _carrying(model)}
    return {"metrics": counts, "carried": carried}


def load_runtime_state(model: torch.nn.Module, saved: dict[str, Any]) -> None:
    """Restore what `save_runtime_state` returned for a model of the same config."""
    device = torch.device("cpu")
    for parameter in model.parameters():
        device = parameter.device
        break
    for path, metric in _metrics(model):
        for name, value in saved["metrics"].get(path, {}).items():
            setattr(metric, name, _restored(vars(metric).get(name), value, device))
    for path, module in _carrying(model):
        module.set_carried_states(saved["carried"][path])


def on_cpu(value: Any) -> Any:
    """Plain data with its tensors on the CPU."""
    return mapped(value, _moved_to_cpu)


def _moved_to_cpu(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.cpu()
    return value


def _metrics(model: torch.nn.Module) -> Iterator[tuple[str, Metric]]:
    """
    The metrics of all modules by path, also in lists, dictionaries and other metrics.
    """
    for owner, module in model.named_modules():
        yield from _metrics_of(owner, module)


def _metrics_of(path: str, owner: Any) -> Iterator[tuple[str, Metric]]:
    """The metrics in the attributes of a module or a metric."""
    for attribute, value in vars(owner).items():
        of_attribute = f"{path}.{attribute}"
        values = [(of_attribute, value)]
        for key, item in items(value):
            values.append((f"{of_attribute}[{key}]", item))
        for of_value, item in values:
            if isinstance(item, Metric):
                yield of_value, item
                yield from _metrics_of(of_value, item)


def _carrying(model: torch.nn.Module) -> Iterator[tuple[str, Carrying]]:
    """Modules that carry states from one batch to the next."""
    for path, module in model.named_modules():
        if isinstance(module, Carrying):
            yield path, module


def _is_plain(value: Any) -> bool:
    """
    Whether `torch.load` can read a value, whose arrays become tensors, without running
    code.
    """
    if isinstance(value, dict):
        return all(map(_is_plain, value.keys())) and all(map(_is_plain, value.values()))
    if type(value) in (list, tuple, set):
        return all(map(_is_plain, value))
    return isinstance(value, PLAIN)


def _without_array(value: Any) -> Any:
    """A tensor in place of an array."""
    if isinstance(value, numpy.ndarray):
        return torch.from_numpy(value.copy())
    return value


def _restored(present: Any, saved: Any, device: torch.device) -> Any:
    """The saved value with the type and device of the present one."""
    if isinstance(present, numpy.ndarray):
        return saved.numpy()
    if isinstance(saved, torch.Tensor):
        if isinstance(present, torch.Tensor):
            device = present.device
        return saved.to(device)
    if isinstance(present, dict) and type(present) is not dict:
        present.clear()
        present.update(saved)
        return present
    return saved
