"""The learning rate schedule of coreference (Lee et al., 2017, section 7)."""

import torch
from allennlp.training.learning_rate_schedulers import LearningRateScheduler

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Size, checked


@LearningRateScheduler.register("elmo_tasks_staircase")
class Staircase(LearningRateScheduler):
    """
    Multiplies the initial learning rate by `factor ** (u // every)` after u updates. AllenNLP's `exponential` counts
    epochs instead.

    # Parameters

    - `every`: updates between two steps.

    Raises `InputError` if `factor` is not above 0 and at most 1, or `every` is below 1.
    """

    @checked
    def __init__(self, optimizer: torch.optim.Optimizer, *, factor: float, every: Size, last_epoch: int = -1) -> None:
        if not 0 < factor <= 1:
            raise InputError(f"expected a factor above 0 and at most 1, got {factor!r}")
        super().__init__(optimizer, last_epoch)
        self._factor, self._every, self._updates = factor, every, 0

    def get_values(self) -> list[float]:
        """The learning rate of each parameter group."""
        share = self._factor ** (self._updates // self._every)
        return [value * share for value in self.base_values]

    def step_batch(self, batch_num_total: int | None = None) -> None:
        """Sets the learning rate of the next update; AllenNLP counts updates from 1."""
        self._updates = 0 if batch_num_total is None else batch_num_total - 1
        for group, value in zip(self.optimizer.param_groups, self.get_values(), strict=True):
            group[self.param_group_field] = value
