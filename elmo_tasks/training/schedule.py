"""AllenNLP's learning-rate schedule `reduce_on_plateau`, for current PyTorch."""

from typing import Union

from allennlp.training.learning_rate_schedulers import LearningRateScheduler, ReduceOnPlateauLearningRateScheduler
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau


@LearningRateScheduler.register("reduce_on_plateau", exist_ok=True)
class ReduceOnPlateau(ReduceOnPlateauLearningRateScheduler):
    """AllenNLP's, with the same keys. PyTorch has removed `verbose`, which AllenNLP passes: here it has no effect."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        threshold_mode: str = "rel",
        threshold: float = 1e-4,
        cooldown: int = 0,
        min_lr: Union[float, list[float]] = 0,
        eps: float = 1e-8,
    ) -> None:
        self.lr_scheduler = ReduceLROnPlateau(
            optimizer,
            mode=mode,  # type: ignore[arg-type]
            factor=factor,
            patience=patience,
            threshold_mode=threshold_mode,  # type: ignore[arg-type]
            threshold=threshold,
            cooldown=cooldown,
            min_lr=min_lr,
            eps=eps,
        )
