"""Sources of layers inside a model that is trained."""

from typing import Any, Self, cast

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM, BiLMOutput, States
from elmo_tasks.elmo.cache import LayerCache
from elmo_tasks.elmo.source_types import LayerSource


class FrozenSource(nn.Module):
    """
    A source that computes as it did before the training of the model around it: without gradients, also under autocast,
    and in evaluation mode. It moves with the model, but is none of its modules: optimizers, initializers and state
    dicts do not reach it. With a `cache`, layers are read from disk if they were computed before; a training also
    writes them.
    """

    def __init__(self, source: LayerSource, cache: LayerCache | None = None) -> None:
        super().__init__()
        self._hidden = (
            source.eval().requires_grad_(False),
        )  # `nn.Module` registers no module in a tuple
        self.cache = cache
        self.carried: States = {}

    @property
    def source(self) -> LayerSource:
        return self._hidden[0]

    def forward(self, ids: Tensor) -> BiLMOutput:
        """The layers [L+1, B, T, D] and the mask [B, T] for character ids [B, T, C]."""
        with torch.no_grad(), torch.autocast(ids.device.type, enabled=False):
            if self.cache is not None:
                return self.cache.layers(self.source, ids)
            if isinstance(self.source, BiLM) and self.source.state == "carry":
                output, self.carried = self.source.carry(ids, self.carried)
                return output
            return self.source(ids)

    def train(self, mode: bool = True) -> Self:
        """The cache is written from the beginning of a training."""
        if mode and self.cache is not None:
            self.cache.read_only = False
        return super().train(mode)

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        cast(nn.Module, self.source)._apply(*args, **kwargs)
        return super()._apply(*args, **kwargs)
