"""Patches of AllenNLP's character encoder, `character_encoding`, and its `cnn`."""

from typing import Any

import torch
from allennlp.modules.seq2vec_encoders import CnnEncoder
from allennlp.modules.token_embedders import TokenCharactersEncoder
from torch import Tensor, nn


def mask_characters_in_any_dtype() -> None:
    """
    Lets `CnnEncoder` mask padding in any dtype.

    AllenNLP adds the smallest number of torch's default dtype to the activations of padding, and searches for it in the
    maximum. In another dtype, also under `torch.autocast`, it is not found: a word shorter than a filter has features
    of -65504 or minus infinity in place of 0. The patch can go when AllenNLP fills them in.
    """
    CnnEncoder.forward = _forward


def _forward(self: CnnEncoder, tokens: Tensor, mask: Tensor | None) -> Tensor:
    """Characters [N, C, E] and their mask [N, C], padded on the right -> features [N, F]."""
    mask = torch.ones_like(tokens[:, :, 0]) if mask is None else mask
    inputs, lengths = (tokens * mask[:, :, None]).transpose(1, 2), mask.sum(1)  # [N, E, C], [N]
    pooled = [
        _maximum(self._activation(getattr(self, f"conv_layer_{number}")(inputs)), lengths - size + 1)
        for number, size in enumerate(self._ngram_filter_sizes)
    ]
    features = torch.cat(pooled, 1)
    return features if self.projection_layer is None else self.projection_layer(features)


def _maximum(activations: Tensor, count: Tensor) -> Tensor:
    """The maximum of the first `count` [N] positions of [N, F, P]: [N, F]; 0 if there are none."""
    positions = torch.arange(activations.shape[2], device=activations.device)
    outside = (positions >= count[:, None])[:, None]  # [N, 1, P]
    return torch.where((count > 0)[:, None], activations.masked_fill(outside, -torch.inf).max(2).values, 0.0)


def make_character_encoders_picklable() -> None:
    """
    Lets models with a character encoder be pickled and copied.

    Without dropout AllenNLP's encoder has a local function as an attribute. The patch can go when it has none.
    """
    TokenCharactersEncoder.__getstate__ = _picklable_state


def _picklable_state(self: TokenCharactersEncoder) -> dict[str, Any]:
    state = dict(vars(self))
    return state | {"_dropout": nn.Identity()} if "_dropout" in state else state
