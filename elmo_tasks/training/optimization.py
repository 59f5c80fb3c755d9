"""Moving averages that resume exactly, and learning-rate schedules."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union

import torch
from allennlp.training.learning_rate_schedulers import (
    LearningRateScheduler,
    ReduceOnPlateauLearningRateScheduler,
)
from allennlp.training.moving_average import ExponentialMovingAverage, MovingAverage
from overrides import overrides
from pydantic import Field, SkipValidation
from torch.optim.lr_scheduler import ReduceLROnPlateau

from elmo_tasks.settings import (
    Count,
    Factor,
    Integer,
    ListOf,
    Positive,
    Probability,
    Size,
    checked,
)


@LearningRateScheduler.register("elmo_tasks_staircase")
class Staircase(LearningRateScheduler):
    """
    The initial learning rate times `factor ** (u // every)` after u updates.
    AllenNLP's `exponential` counts epochs instead.

    # Parameters

    - `factor`: factor of each step.
    - `every`: updates between two steps.
    """

    @checked
    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        *,
        factor: Positive,
        every: Size,
        last_epoch: Annotated[Integer, Field(ge=-1)] = -1,
    ) -> None:
        super().__init__(optimizer, last_epoch)
        self._factor = factor
        self._every = every
        self._updates = 0

    @overrides
    def get_values(self) -> list[float]:
        """The learning rate of each parameter group."""
        share = self._factor ** (self._updates // self._every)
        return [value * share for value in self.base_values]

    @overrides
    def step_batch(self, batch_num_total: int | None = None) -> None:
        """Sets the learning rate of the next update; AllenNLP counts updates from 1."""
        self._updates = 0
        if batch_num_total is not None:
            self._updates = batch_num_total - 1
        groups = self.optimizer.param_groups
        for group, value in zip(groups, self.get_values(), strict=True):
            group[self.param_group_field] = value


@MovingAverage.register("exponential", exist_ok=True)
class ResumableMovingAverage(ExponentialMovingAverage):
    """
    AllenNLP's `exponential`, repaired so that it still follows the model after a
    training is resumed.

    AllenNLP replaces the parameters by the checkpoint's copies, which do not change any
    more.

    # Parameters

    - `decay`: largest weight of the previous average in a step.
    - `numerator`: a in the weight `min(decay, (a + steps) / (b + steps))`.
    - `denominator`: b in that weight.
    """

    @checked
    def __init__(
        self,
        parameters: SkipValidation[Iterable[tuple[str, torch.Tensor]]],
        decay: Probability = 0.9999,
        numerator: Positive = 1.0,
        denominator: Positive = 10.0,
    ) -> None:
        super().__init__(parameters, decay, numerator, denominator)

    @overrides
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        for name, tensor in self._shadows.items():
            tensor.copy_(state_dict["shadows"][name])
        for name, tensor in self._backups.items():
            tensor.copy_(state_dict["backups"][name])


@MovingAverage.register("elmo_tasks_exponential")
class ConstantMovingAverage(ResumableMovingAverage):
    """
    An exponential moving average with a constant decay (as in the paper's SQuAD model).

    AllenNLP's `exponential` uses `min(decay, (1 + steps) / (10 + steps))`, which
    reaches 0.999 after 8,990 steps.

    # Parameters

    - `decay`: weight of the previous average in each step.
    """

    @checked
    def __init__(
        self,
        parameters: SkipValidation[Iterable[tuple[str, torch.Tensor]]],
        decay: Probability = 0.999,
    ) -> None:
        super().__init__(parameters, decay=decay, numerator=1.0, denominator=1.0)


@LearningRateScheduler.register("reduce_on_plateau", exist_ok=True)
class ReduceOnPlateau(ReduceOnPlateauLearningRateScheduler):
    """
    AllenNLP's `reduce_on_plateau` for current PyTorch: lowers the learning rate when
    the validation metric stops improving.

    # Parameters

    - `mode`: whether a lower (`min`) or a higher (`max`) metric is better.
    - `factor`: factor of the learning rate in each reduction.
    - `patience`: epochs without improvement before a reduction.
    - `verbose`: has no effect: PyTorch has removed it.
    - `threshold_mode`: whether `threshold` is relative or absolute.
    - `threshold`: smallest change that counts as an improvement.
    - `cooldown`: epochs after a reduction in which none are counted.
    - `min_lr`: lowest learning rate, or one for each parameter group.
    - `eps`: smallest change of the learning rate; smaller ones are left out.
    """

    @checked
    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: Probability = 0.1,
        patience: Count = 10,
        verbose: bool = False,
        threshold_mode: Literal["rel", "abs"] = "rel",
        threshold: Factor = 1e-4,
        cooldown: Count = 0,
        min_lr: Union[Factor, ListOf[Factor]] = 0.0,
        eps: Factor = 1e-8,
    ) -> None:
        self.lr_scheduler = ReduceLROnPlateau(
            optimizer,
            mode=mode,
            factor=factor,
            patience=patience,
            threshold_mode=threshold_mode,
            threshold=threshold,
            cooldown=cooldown,
            min_lr=min_lr,
            eps=eps,
        )
