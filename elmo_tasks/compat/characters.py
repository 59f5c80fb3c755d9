"""AllenNLP's character encoder, `character_encoding`: copies of it, and its `cnn` in all types of numbers."""

from typing import Any

import torch
from allennlp.modules.seq2vec_encoders import CnnEncoder
from allennlp.modules.token_embedders import TokenCharactersEncoder
from torch import Tensor, nn


def convolve(self: CnnEncoder, tokens: Tensor, mask: Tensor | None) -> Tensor:
    """
    The `forward` of `CnnEncoder`.

    # Parameters

    tokens : `Tensor`, shape [N, C, E]
    mask : `Tensor`, optional, shape [N, C]
        1 for characters, which fill each row from the left, 0 for padding.

    # Returns

    `Tensor`, shape [N, F]
    """
    mask = torch.ones_like(tokens[:, :, 0]) if mask is None else mask
    inputs, lengths = (tokens * mask[:, :, None]).transpose(1, 2), mask.sum(1)  # [N, E, C], [N]
    pooled = [
        _maximum(self._activation(getattr(self, f"conv_layer_{number}")(inputs)), lengths - size + 1)
        for number, size in enumerate(self._ngram_filter_sizes)
    ]
    features = torch.cat(pooled, 1)
    return features if self.projection_layer is None else self.projection_layer(features)


def _maximum(activations: Tensor, count: Tensor) -> Tensor:
    """The maximum of the first `count` [N] places of [N, F, P]: [N, F]; 0 where the count is not above 0."""
    places = torch.arange(activations.shape[2], device=activations.device)
    outside = (places >= count[:, None])[:, None]  # [N, 1, P]
    return torch.where((count > 0)[:, None], activations.masked_fill(outside, -torch.inf).max(2).values, 0.0)


def mask_characters_in_any_type() -> None:
    """
    Lets `CnnEncoder` leave out padding in any type of numbers.

    AllenNLP adds the least number of the activations' type to those of padding, in torch's default type, and looks for
    that number in the maximum. In another type, under `torch.autocast` too, it does not find it: a word shorter than
    a filter has features of -65504 or minus infinity in place of 0. It can go when AllenNLP fills them in instead.
    """
    CnnEncoder.forward = convolve


def picklable_state(self: TokenCharactersEncoder) -> dict[str, Any]:
    """What a copy holds; the local function that stands for no dropout is a module there."""
    state = dict(vars(self))
    return state | {"_dropout": nn.Identity()} if "_dropout" in state else state


def let_character_encoders_be_pickled() -> None:
    """
    Lets models with a character encoder be pickled, as `spawn`ed processes and caches of models need it.

    Without dropout AllenNLP's encoder holds a local function, which cannot be. It can go when AllenNLP holds none.
    """
    TokenCharactersEncoder.__getstate__ = picklable_state
