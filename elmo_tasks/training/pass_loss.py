"""
The loss of a pass over data: a mean that does not depend on how the data are cut into
batches.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from allennlp.models import Model
from torch import Tensor

from elmo_tasks.errors import InputError

TOTAL, COUNT = "loss_total", "loss_count"
"""The outputs of a model that `loss_of_pass` adds up."""


def loss_sums(total: Tensor, count: Tensor | int) -> dict[str, Tensor]:
    """
    The outputs that `loss_of_pass` adds up: the sum of the losses of a batch's items,
    such as texts or words, a scalar, and the number of these items.
    """
    return {TOTAL: total.detach(), COUNT: torch.as_tensor(count)}


def require_finite(*scores: Tensor) -> None:
    """
    Raises `InputError` if any of the scores or losses of a model is NaN or infinite.
    """
    for tensor in scores:
        if not tensor.isfinite().all():
            raise InputError(
                "the model gives no finite numbers: expected finite scores, got NaN or infinity",
                hint="train it with a lower learning rate, or compute in float32 where float16 overflows",
            )


class PassLoss:
    """
    The sum of the losses of all items so far, and their number; `is_known` unless the
    model does not tell them.
    """

    def __init__(self) -> None:
        self.total = 0.0
        self.count = 0
        self.is_known = False

    def add(self, module: Any, inputs: Any, outputs: Any) -> None:
        """A forward hook of the model. Raises `InputError` if a loss is not finite."""
        if TOTAL in outputs:
            require_finite(outputs[TOTAL])
            self.is_known = True
            self.total += outputs[TOTAL].item()
            self.count += int(outputs[COUNT].item())

    @property
    def mean(self) -> float:
        """The loss of an item; 0 if there is none."""
        if not self.count:
            return 0.0
        return self.total / self.count


@contextmanager
def loss_of_pass(model: Model) -> Iterator[PassLoss]:
    """
    Adds up the losses of the batches that a model sees in this context. AllenNLP takes
    the mean of the batches' losses, in which an item of a small batch counts more, and
    a sum grows with the batches.
    """
    losses = PassLoss()
    hook = model.register_forward_hook(losses.add)
    try:
        yield losses
    finally:
        hook.remove()
