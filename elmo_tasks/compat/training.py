"""Patches of `allennlp.training`: a schedule, moving averages, warnings."""

import functools
import warnings
from collections.abc import Iterable
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training.learning_rate_schedulers import ReduceOnPlateauLearningRateScheduler
from allennlp.training.moving_average import ExponentialMovingAverage, MovingAverage
from torch.optim.lr_scheduler import ReduceLROnPlateau


@MovingAverage.register("elmo_tasks_exponential")
class ConstantMovingAverage(ExponentialMovingAverage):
    """
    An exponential moving average with a constant decay (as in the paper's SQuAD model).

    AllenNLP's `exponential` uses `min(decay, (1 + steps) / (10 + steps))`, which reaches 0.999 after 8,990 steps.
    `decay` is between 0 and 1.
    """

    def __init__(self, parameters: Iterable[tuple[str, torch.Tensor]], decay: float = 0.999) -> None:
        if not 0 <= decay <= 1:
            raise ConfigurationError(f"moving_average.decay: expected a number from 0 to 1, got {decay}")
        super().__init__(parameters, decay=decay, numerator=1.0, denominator=1.0)


def follow_live_parameters() -> None:
    """
    Keeps a moving average on the parameters of the model when its state is loaded.

    `MovingAverage.load_state_dict` replaces the parameters by those of the checkpoint, which are copies: after
    `--recover` the average does not change any more. The patch can go when AllenNLP loads shadows and backups alone.
    """
    MovingAverage.load_state_dict = _load_state_dict


def _load_state_dict(average: MovingAverage, state_dict: dict[str, Any]) -> None:
    for kind in ("shadows", "backups"):
        own: dict[str, torch.Tensor] = getattr(average, f"_{kind}")
        saved: dict[str, torch.Tensor] = state_dict[kind]
        for name, tensor in own.items():
            tensor.copy_(saved[name])


def accept_verbose() -> None:
    """
    Lets `reduce_on_plateau` be constructed, with the same keys and defaults.

    AllenNLP passes `verbose=` to `ReduceLROnPlateau`, which PyTorch has removed. The patch can go when AllenNLP does
    not pass it.
    """
    original = ReduceOnPlateauLearningRateScheduler.__init__

    @functools.wraps(original)  # AllenNLP reads the signature
    def construct(self: Any, optimizer: torch.optim.Optimizer, verbose: bool = False, **options: Any) -> None:
        super(ReduceOnPlateauLearningRateScheduler, self).__init__(ReduceLROnPlateau(optimizer, **options))

    ReduceOnPlateauLearningRateScheduler.__init__ = construct


def silence_autocast_warnings() -> None:
    """
    Hides the deprecation of `torch.cuda.amp.autocast`, which AllenNLP's trainer uses even without mixed precision.

    The patch can go when AllenNLP uses `torch.autocast`.
    """
    message = r"`torch\.cuda\.amp\.\w+\(args\.\.\.\)` is deprecated"
    warnings.filterwarnings("ignore", message=message, category=FutureWarning, module=r"allennlp\.training\.")
