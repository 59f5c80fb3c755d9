"""Moving averages of the parameters (as in the paper's SQuAD model) that survive `--recover`."""

from collections.abc import Iterable
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training.moving_average import ExponentialMovingAverage, MovingAverage


@MovingAverage.register("elmo_tasks_exponential")
class ConstantMovingAverage(ExponentialMovingAverage):
    """
    An exponential moving average whose decay is the same from the first step to the last.

    AllenNLP's `exponential` takes `min(decay, (1 + steps) / (10 + steps))`, which starts at 0.18
    and reaches 0.999 after 8,990 steps; there the constant decay is had only by making numerator
    and denominator equal.

    # Parameters

    parameters : `Iterable[tuple[str, torch.Tensor]]`
        Names and parameters to average; the trainer gives them.
    decay : `float`, optional (default = `0.999`)
        The share of the old average that each step keeps, between 0 and 1.
    """

    def __init__(self, parameters: Iterable[tuple[str, torch.Tensor]], decay: float = 0.999) -> None:
        if not 0 <= decay <= 1:
            raise ConfigurationError(f"moving_average.decay must lie in [0, 1], not {decay}")
        super().__init__(parameters, decay=decay, numerator=1.0, denominator=1.0)


def load_into_live(average: MovingAverage, state_dict: dict[str, Any]) -> None:
    """
    Copies the saved averages into `average`, which goes on following its own parameters.

    # Raises

    ConfigurationError
        if the saved averages are not those of `average`'s parameters.
    """
    for kind in ("shadows", "backups"):
        own: dict[str, torch.Tensor] = getattr(average, f"_{kind}")
        saved: dict[str, torch.Tensor] = state_dict[kind]
        if differing := sorted(own.keys() ^ saved.keys()):
            raise ConfigurationError(
                "the checkpoint's moving average is of other parameters than the model's: " + ", ".join(differing)
            )
        for name, tensor in own.items():
            tensor.copy_(saved[name])


def follow_live_parameters() -> None:
    """
    Keeps a moving average on the model's own parameters when it is loaded.

    `MovingAverage.load_state_dict` takes over the parameters of the checkpoint, which are copies:
    after `--recover` the average of a training never moves again, and swapping it in overwrites
    nothing but the copies. It can go when AllenNLP loads shadows and backups alone.
    """
    MovingAverage.load_state_dict = load_into_live
