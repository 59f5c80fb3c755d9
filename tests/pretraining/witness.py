"""A callback that records the batches and final weights of each process."""

from pathlib import Path
from typing import Any

import torch
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks.training.distributed import process_rank


@TrainerCallback.register("tests_witness")
class Witness(TrainerCallback):
    """
    Writes `witness.<rank>.pt`: `weights`, and for each training and validation batch the targets of each direction in
    the process's rows, [T, B], -1 where masked.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self.targets: dict[str, list[torch.Tensor]] = {}

    def on_batch(self, trainer: Any, batch_inputs: list[Any], *arguments: Any, is_training: bool, **named: Any) -> None:
        for inputs in batch_inputs:
            for direction in ("forward", "backward"):
                targets, mask = (getattr(inputs["batch"], f"{direction}_{name}") for name in ("targets", "mask"))
                name = f"{'training' if is_training else 'validation'}_{direction}"
                self.targets.setdefault(name, []).append(targets.masked_fill(~mask, -1))

    def on_end(self, trainer: Any, **named: Any) -> None:
        seen = {"weights": trainer.model.state_dict(), "targets": self.targets}
        torch.save(seen, Path(self.serialization_dir) / f"witness.{process_rank()}.pt")
