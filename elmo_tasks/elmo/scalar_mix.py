"""
The L+1 layers of a source -> one vector per token: Eq. (1) of the paper (section 3.2).

The vector of token k in a task, from the token's layers h_k0 to h_kL:

    ELMo_k = gamma * sum_j s_j h_kj    for j = 0 ... L, with s = softmax(w)

h_k0 is the context-free layer. The task learns the numbers w_0 to w_L and gamma. In
some cases the paper also normalises each layer first: see `normalize`.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, Optional

import torch
from pydantic import Field
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Factor, NoNumber, Settings, checked

WEIGHTED = "weighted"
LAST = "last"

EPSILON = 1e-12
"""Added to the variance, as in the paper's code."""


@checked
@dataclass(frozen=True, kw_only=True)
class MixSettings(Settings):
    """
    How the layers become one vector. `layer_norm` has no gain or bias. With `sentence`,
    mean and variance are computed over the tokens of each sentence; with `batch`, over
    all tokens of the batch, as in the paper's code, so a vector depends on the other
    sentences.
    """

    mix: Annotated[
        str,
        Field(pattern=rf"^({WEIGHTED}|{LAST}|layer:[0-9]+)$"),
        "how layers become one vector: `weighted` (Eq. 1), `last` (the top layer) or"
        " `layer:k`; `layer:0` is the context-free layer",
    ] = WEIGHTED
    l2: Annotated[
        Optional[Factor],
        "L2 penalty on the layer weights, the paper's lambda; null: none; only a"
        " `weighted` mix has these weights",
    ] = None
    gamma: Annotated[bool, "learn the scale gamma, initially 1"] = True
    layer_norm: Annotated[
        Literal[False, "sentence", "batch"],
        NoNumber,
        "normalise each layer to mean 0 and variance 1 before mixing, over a sentence or"
        " over the batch",
    ] = False


WEIGHTED_MIX = MixSettings()


class ScalarMix(nn.Module):
    """
    `gamma * sum_j s_j h_j` with `s = softmax(w)` over the layers j = 0 ... L (Eq. 1).
    The parameters are `weights`, the paper's w before the softmax, [L+1], which starts
    at 0, and `gamma`, a scalar, which starts at 1. A mix of one layer has no weights.

    `n_layers` is L+1, including the context-free layer. Raises `InputError` if
    `settings` name a layer that does not exist.
    """

    def __init__(self, n_layers: int, settings: MixSettings = WEIGHTED_MIX) -> None:
        super().__init__()
        self.n_layers = n_layers
        self.settings = settings
        self.layer = _one_layer(settings.mix, n_layers)
        self.weights: nn.Parameter | None = None  # [L+1]
        if self.layer is None:
            self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma: nn.Parameter | None = None
        if settings.gamma:
            self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor, mask: Tensor) -> Tensor:
        """
        Vectors [B, T, D], zero for padding, from layers [L+1, B, T, D] and a mask [B,
        T].
        """
        if self.layer is not None:
            layers = layers[self.layer : self.layer + 1]  # [1, B, T, D]
        layer_norm = self.settings.layer_norm
        if layer_norm:
            layers = normalize(layers, mask, over_batch=layer_norm == "batch")
        if self.weights is None:
            if self.gamma is None:
                return layers[0]  # [B, T, D]
            return self.gamma * layers[0]
        shares = self.weights.softmax(0)  # [L+1]
        if self.gamma is not None:
            # Here, and not after the sum, which would be kept for gamma's gradient.
            shares = self.gamma * shares
        return torch.einsum("l,lbtd->btd", shares.to(layers), layers)  # [B, T, D]

    def layer_weights(self) -> Tensor:
        """
        The softmax-normalised `s`, shape [L+1], without gradient; one-hot for a mix of
        one layer.
        """
        if self.weights is not None:
            return self.weights.detach().softmax(0)
        return nn.functional.one_hot(torch.tensor(self.layer), self.n_layers).float()

    def penalty(self) -> Tensor:
        """
        `l2 * sum_j w_j^2` on the weights before the softmax (paper, section 3.3): a
        large `l2` makes the layers equal. Gamma is not penalised. A scalar; 0 if `l2`
        is `None` or 0, or for a mix of one layer.
        """
        if self.weights is None or not self.settings.l2:
            return next(self.parameters(), torch.zeros(())).new_zeros(())
        return self.settings.l2 * self.weights.square().sum()


def _one_layer(mix: str, n_layers: int) -> int | None:
    """
    The layer of a mix of one layer; `None` for a weighted mix. Raises `InputError` if
    there is no such layer.
    """
    if mix == WEIGHTED:
        return None
    if mix == LAST:
        return n_layers - 1
    layer = int(mix.removeprefix("layer:"))
    if layer >= n_layers:
        known = f"one of layer:0 to layer:{n_layers - 1}"
        raise InputError(f"mix: expected {known} for this biLM, got {mix!r}")
    return layer


def normalize(layers: Tensor, mask: Tensor, *, over_batch: bool) -> Tensor:
    """
    Layer normalization without gain and bias (paper, section 3.2; Ba et al. 2016), of
    layers [L+1, B, T, D] with a mask [B, T]. For each layer, and each sentence or the
    whole batch, over its N values, those of all its tokens, padding excluded:

        mean = sum_i x_i / N
        variance = sum_i (x_i - mean)^2 / N
        y_i = (x_i - mean) / sqrt(variance + EPSILON)

    Padding becomes zero. Sums are in float32 or float64.
    """
    dtype = layers.dtype
    layers = layers.to(torch.promote_types(dtype, torch.float32))
    # Of a sentence. For the whole batch, B is 1 in the shapes of sums below.
    axes: tuple[int, ...] = (2, 3)
    if over_batch:
        axes = (1, 2, 3)
    present = mask[None, :, :, None].to(layers)  # [1, B, T, 1]
    values = present.sum(axes, keepdim=True) * layers.shape[3]  # [1, B, 1, 1]
    values = values.clamp(min=1)
    mean = (layers * present).sum(axes, keepdim=True) / values  # [L+1, B, 1, 1]
    centred = (layers - mean) * present  # [L+1, B, T, D]
    variance = centred.square().sum(axes, keepdim=True) / values  # [L+1, B, 1, 1]
    normalized = centred * (variance + EPSILON).rsqrt()  # [L+1, B, T, D]
    return normalized.to(dtype)
