"""The learning-rate schedule that a changed signature in PyTorch broke."""

from typing import Any

import torch
from allennlp.training.learning_rate_schedulers import ReduceOnPlateauLearningRateScheduler


def construct_reduce_on_plateau(
    self: Any,
    optimizer: torch.optim.Optimizer,
    mode: str = "min",
    factor: float = 0.1,
    patience: int = 10,
    verbose: bool = False,
    threshold_mode: str = "rel",
    threshold: float = 1e-4,
    cooldown: int = 0,
    min_lr: float | list[float] = 0,
    eps: float = 1e-8,
) -> None:
    """
    The constructor of `reduce_on_plateau`, with the keys of AllenNLP's own and the same defaults.

    The metric it watches is the trainer's combined score, in which larger is better, so that a
    config needs `mode: "max"`. `verbose` is taken and has no effect, as in PyTorch.
    """
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer,
        mode=mode,  # type: ignore[arg-type]
        factor=factor,
        patience=patience,
        threshold=threshold,
        threshold_mode=threshold_mode,  # type: ignore[arg-type]
        cooldown=cooldown,
        min_lr=min_lr,
        eps=eps,
    )
    super(ReduceOnPlateauLearningRateScheduler, self).__init__(scheduler)


def accept_verbose() -> None:
    """
    Lets `reduce_on_plateau` be constructed.

    AllenNLP passes `verbose=` to `ReduceLROnPlateau`, which no longer has it: every config with
    this schedule fails (ESIM's and coreference's do). It can go when AllenNLP stops passing it.
    """
    ReduceOnPlateauLearningRateScheduler.__init__ = construct_reduce_on_plateau
