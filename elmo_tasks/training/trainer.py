"""AllenNLP's trainer, with exact resumption."""

import os
from pathlib import Path
from pickle import UnpicklingError
from typing import Annotated, Any, Literal, Optional, Union

import torch
from allennlp.data.data_loaders import DataLoader
from allennlp.models import Model
from allennlp.training import Checkpointer, GradientDescentTrainer, Trainer
from allennlp.training.trainer import TrainerCheckpoint
from overrides import overrides
from pydantic import Field

from elmo_tasks.elmo.layers import opened_models
from elmo_tasks.elmo.models.record import record_models
from elmo_tasks.errors import InputError
from elmo_tasks.settings import Filled, ListOf, NoNumber, Positive, Size, checked
from elmo_tasks.system.files import atomic_write
from elmo_tasks.system.run_names import BEST
from elmo_tasks.training.distributed import all_gather_objects, process_rank
from elmo_tasks.training.folder import has_checkpoint
from elmo_tasks.training.pass_loss import loss_of_pass
from elmo_tasks.training.reports.logs import EpochLines
from elmo_tasks.training.resume.checkpointer import AtomicCheckpointer
from elmo_tasks.training.resume.resumable import make_resumable, set_random_state
from elmo_tasks.training.resume.run_state import RunState, load_runtime_state

MetricName = Annotated[str, Field(pattern=r"^[+-]")]
"""
The name of a metric after + if a higher value is better, after - if a lower one is.
"""


@Trainer.register("elmo_tasks", constructor="from_partial_objects")
class ResumableTrainer(GradientDescentTrainer):
    """
    AllenNLP's `gradient_descent` with exact resumption: a run that is killed at any
    moment and resumed with `--recover` ends with the weights and metrics of an
    uninterrupted run, bit for bit on one CPU thread.

    Keys and results are otherwise those of `gradient_descent`, except that the
    validation loss of our models is the mean over all texts or words, not the mean of
    the batches' losses.

    A checkpoint also contains the random state, the position in the data, and the sums
    of the epoch so far (`RunState`). A finished run is not trained further; epochs
    already completed cost nothing. In distributed training the checkpoint contains this
    for each process, and each process draws different random numbers.

    AllenNLP's `Checkpointer` is replaced by an `AtomicCheckpointer` with the same
    settings.

    # Parameters

    - `num_epochs`: largest number of epochs.
    - `patience`: stop after this many epochs without improvement; null: never.
    - `validation_metric`: the score that chooses the best epoch: a metric after `+` if
      higher is better, or after `-` if lower is, such as `+f1`. Several are summed.
    - `optimizer`: AllenNLP's or PyTorch's, by name.
    - `learning_rate_scheduler`: changes the learning rate during training.
    - `momentum_scheduler`: changes the optimizer's momentum during training.
    - `moving_average`: keeps a moving average of the parameters, which is what is
      evaluated and saved.
    - `checkpointer`: when checkpoints are saved, and how many are kept.
    - `callbacks`: further callbacks.
    - `grad_norm`: rescale the gradient if its norm is larger; false or null: never.
    - `grad_clipping`: clip each element of the gradient to this absolute value.
    - `num_gradient_accumulation_steps`: batches for one step of the optimizer.
    - `cuda_device`: number of the GPU, or -1 for the CPU; null: a GPU if there is one.
    - `use_amp`: if true, train with PyTorch's automatic mixed precision, on a GPU.
    - `grad_scaling`: if true, scale the loss with `use_amp`.
    - `enable_default_callbacks`: if false, AllenNLP logs no metrics to the console.
    - `run_confidence_checks`: if true, AllenNLP checks the model before training.
    - `no_grad`: regular expressions of parameters that are not trained.

    Raises `InputError` if the data loader has no position (see `make_resumable`), or if
    the checkpoint cannot be read, or is of another trainer or number of processes.
    """

    _best_model_filename: str | None

    @checked
    def __init__(
        self,
        model: Model,
        optimizer: torch.optim.Optimizer,
        data_loader: DataLoader,
        *,
        num_epochs: Size = 20,
        patience: Optional[Size] = None,
        validation_metric: Union[
            MetricName, Annotated[ListOf[MetricName], Filled]
        ] = "-loss",
        grad_norm: Union[Positive, Annotated[Literal[False], NoNumber], None] = False,
        grad_clipping: Optional[Positive] = None,
        num_gradient_accumulation_steps: Size = 1,
        **options: Any,
    ) -> None:
        options |= {
            "num_epochs": num_epochs,
            "patience": patience,
            "validation_metric": validation_metric,
            "grad_norm": False if grad_norm is None else grad_norm,
            "grad_clipping": grad_clipping,
            "num_gradient_accumulation_steps": num_gradient_accumulation_steps,
        }
        if type(options.get("checkpointer")) is Checkpointer:
            options["checkpointer"] = AtomicCheckpointer.like(options["checkpointer"])
        super().__init__(model, optimizer, data_loader, **options)
        loader = self._validation_data_loader
        for part in (loader, getattr(loader, "batch_sampler", None)):
            if getattr(part, "drop_last", False):
                raise InputError(
                    "validation_data_loader: drop_last leaves out instances",
                    hint="give one without it",
                )
        self.data_loader = make_resumable(data_loader)
        self._state = RunState(self)
        self._callbacks.insert(0, self._state)
        self._callbacks.append(EpochLines(self._serialization_dir))
        folder = Path(self._serialization_dir)
        if self._primary and not has_checkpoint(folder):
            record_models(folder, opened_models(model))
        if process_rank() > 0:  # otherwise all processes would drop the same units
            torch.manual_seed(torch.initial_seed() + process_rank())

    def _start(self) -> tuple[int, int]:
        """Completed epochs, and completed batches of the next one."""
        epochs = self._start_after_epochs_completed
        return epochs, self._start_after_batches_in_epoch_completed

    @overrides
    def _try_train(self) -> tuple[dict[str, Any], int]:
        self._require_same_everywhere()
        if self._start() == (0, 0):
            return super()._try_train()
        saved = self._state.require_saved()
        if saved["best"]:
            self._write_best()
        elif self._best_model_filename is not None:  # the folder may have been moved
            self._best_model_filename = os.path.join(self._serialization_dir, BEST)
        epochs, batches = self._start()
        is_last = epochs >= self._num_epochs or self._metric_tracker.should_stop_early()
        if is_last and batches == 0:
            self._load_final_weights()
            return dict(saved["metrics"]), epochs - 1
        self._resume(saved)
        return super()._try_train()

    def _require_same_everywhere(self) -> None:
        """
        Raises `InputError` if the processes read other checkpoints, or other files of
        frozen layers.
        """
        starts = all_gather_objects(self._start())
        if len(set(starts)) > 1:
            wanted = "expected one checkpoint on all processes"
            problem = f"{wanted}, got {starts} (epochs, batches)"
            hint = "the nodes do not see the same files yet: start again with --recover"
            raise InputError(problem, file=self._serialization_dir, hint=hint)
        digests = [files.sha256 for files in opened_models(self.model)]
        of_first, *of_others = all_gather_objects(digests)
        for rank, other in enumerate(of_others, start=1):
            if other != of_first:
                problem = f"process {rank} reads other files of a frozen source than process 0: {other}"
                raise InputError(problem, hint="copy the same files to all nodes")

    @overrides
    def _train_epoch(self, epoch: int) -> dict[str, float]:
        if self._epochs_completed < self._start_after_epochs_completed:
            # Completed before the checkpoint; the data loader is positioned after it.
            return {}
        metrics = super()._train_epoch(epoch)
        if not self._total_batches_completed:
            raise InputError(
                "data_loader: expected batches, got none",
                hint="drop_last leaves out one with fewer instances than batch_size",
            )
        return self._state.complete_metrics(metrics)

    @overrides
    def _validation_loss(self, epoch: int) -> tuple[float, float | None, int]:
        """
        A sum of losses, of penalties, and the number by which AllenNLP divides both:
        see `loss_of_pass`.
        """
        with loss_of_pass(self.model) as losses:
            total, penalty, count = super()._validation_loss(epoch)
        if losses.is_known:
            return losses.total, penalty, losses.count
        return total, penalty, count

    @overrides
    def get_checkpoint_state(self) -> TrainerCheckpoint | None:
        """
        AllenNLP's, on the first process of a node only; must be called by all
        processes.
        """
        self._state.gather()
        return super().get_checkpoint_state()

    def _resume(self, saved: dict[str, Any]) -> None:
        """
        Called after the callbacks' `on_start`, right before the first batch; the random
        state comes last.
        """
        steps = self._start_after_batches_in_epoch_completed
        self._total_batches_completed = saved["updates"] - steps
        self._should_validate_this_epoch = saved["validates"]
        if self._scaler is not None and saved["scaler"] is not None:
            self._scaler.load_state_dict(saved["scaler"])
        batches = steps * self._num_gradient_accumulation_steps
        self.data_loader.resume(saved["position"], batches=batches)
        load_runtime_state(self.model, saved["model"])
        set_random_state(saved["random"])

    def _write_best(self) -> None:
        """
        The run may have been killed after the checkpoint of its best epoch, before the
        best weights were written.
        """
        self._best_model_filename = os.path.join(self._serialization_dir, BEST)
        if not self._primary:
            return
        if self._moving_average is not None:
            self._moving_average.assign_average_value()
        try:
            self._save_model_state(self._best_model_filename)
        finally:
            if self._moving_average is not None:
                self._moving_average.restore()

    def _load_final_weights(self) -> None:
        """
        As at the end of a run: the weights of the best epoch, or the moving average.
        """
        if self._best_model_filename is None or self._metric_tracker.is_best_so_far():
            self._finalize_model()
        else:
            self._load_model_state(self._best_model_filename)

    @overrides
    def _load_model_state(self, path: str) -> None:
        try:
            super()._load_model_state(path)
        except (RuntimeError, OSError, EOFError, UnpicklingError) as error:
            problem = f"the weights of the best epoch cannot be read: {error}"
            hint = "train from scratch, or use the model_state_*.th of another epoch"
            raise InputError(problem, file=path, hint=hint) from error

    @overrides
    def _save_model_state(self, path: str) -> None:
        # PyTorch would put the temporary file's name into what it writes.
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            super()._save_model_state(file)
