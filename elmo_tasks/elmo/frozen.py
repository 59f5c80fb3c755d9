"""Sources of layers inside a model that is trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn

from elmo_tasks.bilm.bilm import BiLM, BiLMOutput, States
from elmo_tasks.elmo.source_types import LayerSource

if TYPE_CHECKING:
    from elmo_tasks.elmo.cache import LayerCache  # not on Windows


class FrozenSource(nn.Module):
    """
    A source that computes as it did before the training of the model around it: without gradients, also under autocast,
    and in evaluation mode. It moves with the model, but its weights are in no state dict, nor are they expected in one.
    """

    def __init__(self, source: LayerSource) -> None:
        super().__init__()
        self.source = source.eval().requires_grad_(False)
        self.carried: States = {}
        self._prefix = ""
        self.register_load_state_dict_pre_hook(_remember_prefix)
        self.register_load_state_dict_post_hook(_expect_nothing)

    def forward(self, ids: Tensor) -> BiLMOutput:
        """The layers [L+1, B, T, D] and the mask [B, T] for character ids [B, T, C]."""
        with torch.no_grad(), torch.autocast(ids.device.type, enabled=False):
            return self.compute(ids)

    def compute(self, ids: Tensor) -> BiLMOutput:
        """`forward`, with gradients and autocast off."""
        if isinstance(self.source, BiLM) and self.source.state == "carry":
            output, self.carried = self.source.carry(ids, self.carried)
            return output
        return self.source(ids)

    def train(self, mode: bool = True) -> Self:
        """Stays in evaluation mode."""
        return super().train(False)

    def state_dict(self, *args: Any, destination: Any = None, **options: Any) -> Any:
        """Nothing."""
        return {} if destination is None else destination


class CachedSource(FrozenSource):
    """A source whose layers are read from disk, if they were computed before; a training also writes them."""

    def __init__(self, source: LayerSource, cache: "LayerCache") -> None:
        super().__init__(source)
        self.cache = cache

    def compute(self, ids: Tensor) -> BiLMOutput:
        """From the cache, as far as it has them."""
        return self.cache.layers(self.source, ids)

    def train(self, mode: bool = True) -> Self:
        """The cache is written from the beginning of a training."""
        if mode:
            self.cache.read_only = False
        return super().train(mode)


@contextmanager
def without_sources(model: nn.Module) -> Iterator[None]:
    """The model without frozen sources inside the block, for code that changes all parameters that fit a pattern."""
    frozen = [(module, module.source) for module in model.modules() if isinstance(module, FrozenSource)]
    for module, _ in frozen:
        del module.source
    try:
        yield
    finally:
        for module, source in frozen:
            module.source = source


def _remember_prefix(module: FrozenSource, state: dict[str, Any], prefix: str, *_: Any) -> None:
    module._prefix = prefix


def _expect_nothing(module: FrozenSource, keys: Any) -> None:
    keys.missing_keys[:] = [key for key in keys.missing_keys if not key.startswith(module._prefix)]
