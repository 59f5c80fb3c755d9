"""Layers whose frozen weights a CPU holds in the order in which it computes with them, and in no other."""

from typing import Any

import torch
from torch import nn

from elmo_tasks.elmo.product import LOCK, keep_packed, restore


class HeldOnce(nn.Module):
    """
    A layer that can give up its frozen weights for the packed copies with which `product` computes.

    A parameter that is then read by itself holds NaN. The state, a copy, another device or type, and training get the
    weights back, rounded to the type in which they were held; so they do of whatever the layer is a part of.
    """

    def hold_once(self, dtype: torch.dtype) -> None:
        """
        Gives up the weights that only `product` reads, where they are frozen and lie on a CPU that packs them.

        # Parameters

        dtype : `torch.dtype`
            The type of the products.
        """
        for weight in self.parameters(recurse=False):
            if weight.dim() == 2:
                keep_packed(weight, dtype)

    def restore(self) -> None:
        """Takes all weights back as they are wanted by whatever reads them as parameters."""
        for weight in self.parameters(recurse=False):
            restore(weight)

    def state_dict(self, *arguments: Any, **options: Any) -> Any:
        """As of every module, with all weights."""
        with LOCK:  # no other thread gives them up meanwhile
            self.restore()
            return super().state_dict(*arguments, **options)

    def _load_from_state_dict(self, *arguments: Any, **options: Any) -> None:
        self.restore()
        super()._load_from_state_dict(*arguments, **options)

    def _apply(self, *arguments: Any, **options: Any) -> "HeldOnce":
        self.restore()
        return super()._apply(*arguments, **options)

    def __getstate__(self) -> dict[str, Any]:
        self.restore()
        return dict(vars(self))
