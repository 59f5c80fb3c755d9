"""The L+1 layers of the biLM -> one vector per token: Eq. (1) of the paper (section 3.2)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

import torch
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Factor, Settings, Wrong

WEIGHTED, LAST = "weighted", "last"

EPSILON = 1e-12
"""Added to the variance, as in the paper's code."""


def _is_mix(value: object) -> str | None:
    valid = isinstance(value, str) and re.fullmatch(
        rf"{WEIGHTED}|{LAST}|layer:[0-9]+", value
    )
    return None if valid else f"one of {WEIGHTED}, {LAST}, layer:k"


@dataclass(frozen=True, kw_only=True)
class MixSettings(Settings):
    """
    How the layers become one vector. `layer_norm` has no gain and bias; with `sentence`, mean and variance are those of
    each sentence's tokens, with `batch` those of all tokens of the batch, as in the paper's code, so that a vector
    depends on the other sentences.
    """

    mix: Annotated[
        str,
        _is_mix,
        "`weighted` (Eq. 1), `last` (the top layer), or `layer:k`, where `layer:0` is context-free",
    ] = WEIGHTED
    l2: Annotated[
        Optional[Factor], "penalty on the layer weights (the paper's lambda), or null"
    ] = None
    gamma: Annotated[bool, "learn the scale gamma, which starts at 1"] = True
    layer_norm: Annotated[
        Literal[False, "sentence", "batch"],
        "bring each layer to mean 0 and variance 1 before mixing",
    ] = False

    def conflicts(self) -> Iterator[Wrong]:
        if self.l2 and self.mix != WEIGHTED:
            yield Wrong(
                "l2",
                f"null where mix is {self.mix}, which has no weights to penalise",
                self.l2,
            )


WEIGHTED_MIX = MixSettings()


class ScalarMix(nn.Module):
    """
    `gamma * sum_j s_j h_j` with `s = softmax(w)` over the layers j = 0..L; w starts at 0. `n_layers` is L+1, the
    context-free layer counted.

    Raises `InputError` if `settings` name a layer that there is not.
    """

    def __init__(self, n_layers: int, settings: MixSettings = WEIGHTED_MIX) -> None:
        super().__init__()
        self.n_layers, self.settings = n_layers, settings
        weighted = settings.mix == WEIGHTED
        self.layer: int | None = None  # of a mix of one layer
        if not weighted:
            self.layer = (
                n_layers - 1
                if settings.mix == LAST
                else int(settings.mix.partition(":")[2])
            )
            if self.layer >= n_layers:
                problem = f"mix: expected one of layer:0 to layer:{n_layers - 1} for this biLM, got {settings.mix!r}"
                raise InputError(problem)
        self.weights = (
            nn.Parameter(torch.zeros(n_layers)) if weighted else None
        )  # [L+1], before the softmax
        self.gamma = nn.Parameter(torch.ones(())) if settings.gamma else None

    def forward(self, layers: Tensor, mask: Tensor) -> Tensor:
        """Vectors [B, T, D], zero for padding, from layers [L+1, B, T, D] and a mask [B, T]."""
        if self.layer is not None:
            layers = layers[self.layer : self.layer + 1]  # [1, B, T, D]
        if self.settings.layer_norm:
            layers = normalize(
                layers, mask, over_batch=self.settings.layer_norm == "batch"
            )
        if self.weights is None:
            mixed = layers[0]  # [B, T, D]
        else:
            mixed = torch.einsum(
                "l,lbtd->btd", self.weights.softmax(0).to(layers), layers
            )  # [B, T, D]
        return mixed if self.gamma is None else self.gamma * mixed

    def layer_weights(self) -> Tensor:
        """The softmax-normalised `s`, shape [L+1], without gradient; one-hot for a mix of one layer."""
        if self.weights is not None:
            return self.weights.detach().softmax(0)
        return nn.functional.one_hot(torch.tensor(self.layer), self.n_layers).float()

    def penalty(self) -> Tensor:
        """
        `l2 * sum_j w_j^2` on the weights before the softmax (paper, section 3.3): a large `l2` makes the layers equal.
        Gamma is not penalised. A scalar; 0 if `l2` is `None` or 0, or for a mix of one layer.
        """
        if self.weights is None or not self.settings.l2:
            learned = next(self.parameters(), torch.zeros(()))
            return learned.new_zeros(())
        return self.settings.l2 * self.weights.square().sum()


def normalize(layers: Tensor, mask: Tensor, *, over_batch: bool) -> Tensor:
    """
    Each layer [B, T, D] minus its mean, divided by its standard deviation; both are scalars, for the whole batch or for
    each sentence. Padding does not count and becomes zero. Sums are in float32 or float64.
    """
    dtype, layers = (
        layers.dtype,
        layers.to(torch.promote_types(layers.dtype, torch.float32)),
    )
    axes = (1, 2, 3) if over_batch else (2, 3)
    present = mask[None, :, :, None].to(layers)  # [1, B, T, 1]
    count = (present.sum(axes, keepdim=True) * layers.shape[3]).clamp(
        min=1
    )  # [1, B or 1, 1, 1]
    mean = (layers * present).sum(axes, keepdim=True) / count  # [L+1, B or 1, 1, 1]
    centred = (layers - mean) * present  # [L+1, B, T, D]
    variance = centred.square().sum(axes, keepdim=True) / count  # [L+1, B or 1, 1, 1]
    return (centred * (variance + EPSILON).rsqrt()).to(dtype)  # [L+1, B, T, D]
