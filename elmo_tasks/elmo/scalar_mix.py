"""The L+1 layers of the biLM -> one vector per token: Eq. (1) of the paper (section 3.2)."""

import re
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from elmo_tasks.errors import InputError

WEIGHTED, LAST = "weighted", "last"

MIXES = (WEIGHTED, LAST, "layer:k")
"""All layers with learned weights; the top layer; layer k, where `layer:0` is the context-free one."""

LAYER_NORMS = (False, "sentence", "batch")

EPSILON = 1e-12
"""Added to the variance, as in the paper's code."""


def choices(values: Iterable[object]) -> str:
    """The values of a key, for errors."""
    return ", ".join("false" if value is False else str(value) for value in values)


def is_mix(value: object) -> bool:
    """Whether a value is a valid `mix` of some biLM."""
    return isinstance(value, str) and re.fullmatch(rf"{WEIGHTED}|{LAST}|layer:[0-9]+", value) is not None


class ScalarMix(nn.Module):
    """
    `gamma * sum_j s_j h_j` with `s = softmax(w)` over the layers j = 0..L.

    # Parameters

    - `n_layers`: L+1, the context-free layer counted.
    - `mix`: `weighted` (all layers, with learned `w`, which starts at 0), `last` (the top layer) or `layer:k`.
    - `gamma`: whether gamma is learned, starting at 1, for each mix; otherwise it is 1.
    - `layer_norm`: bring each layer to mean 0 and variance 1 before mixing, without gain and bias. With `sentence`, the
      statistics are those of each sentence's tokens; with `batch`, of all tokens of the batch, as in the paper's code,
      so that a vector depends on the other sentences. Padding does not count.

    Raises `InputError` if a value is invalid.
    """

    def __init__(
        self, n_layers: int, *, mix: str = WEIGHTED, gamma: bool = True, layer_norm: bool | str = False
    ) -> None:
        super().__init__()
        if layer_norm not in LAYER_NORMS:
            raise InputError(f"layer_norm: expected one of {choices(LAYER_NORMS)}, got {layer_norm!r}")
        self.n_layers, self.layer_norm = n_layers, layer_norm
        self.layer = _layer(mix, n_layers)
        weighted = self.layer is None
        self.weights = nn.Parameter(torch.zeros(n_layers)) if weighted else None  # [L+1], before the softmax
        self.gamma = nn.Parameter(torch.ones(())) if gamma else None

    def forward(self, layers: Tensor, mask: Tensor) -> Tensor:
        """Vectors [B, T, D], zero for padding, from layers [L+1, B, T, D] and a mask [B, T]."""
        if len(layers) != self.n_layers:
            raise ValueError(f"expected {self.n_layers} layers, got {len(layers)}")
        if self.layer is not None:
            layers = layers[self.layer : self.layer + 1]  # [1, B, T, D]
        if self.layer_norm:
            layers = normalize(layers, mask, over_batch=self.layer_norm == "batch")
        if self.weights is None:
            mixed = layers[0]  # [B, T, D]
        else:
            mixed = torch.einsum("l,lbtd->btd", self.weights.softmax(0).to(layers), layers)  # [B, T, D]
        return mixed if self.gamma is None else self.gamma * mixed

    def layer_weights(self) -> Tensor:
        """The softmax-normalised `s`, shape [L+1], without gradient; one-hot for a mix of one layer."""
        if self.weights is not None:
            return self.weights.detach().softmax(0)
        return nn.functional.one_hot(torch.tensor(self.layer), self.n_layers).float()

    def penalty(self, l2: float | None) -> Tensor:
        """
        `l2 * sum_j w_j^2` on the weights before the softmax (paper, section 3.3): a large `l2` makes the layers equal.
        Gamma is not penalised. A scalar; 0 if `l2` is `None` or 0, or for a mix of one layer.
        """
        if self.weights is None or not l2:
            return torch.zeros(()) if self.gamma is None else torch.zeros_like(self.gamma)
        return l2 * self.weights.square().sum()


def normalize(layers: Tensor, mask: Tensor, *, over_batch: bool) -> Tensor:
    """
    Each layer [B, T, D] minus its mean, divided by its standard deviation; both are scalars, for the whole batch or for
    each sentence. Padding does not count and becomes zero. Sums are in float32 or float64.
    """
    dtype, layers = layers.dtype, layers.to(torch.promote_types(layers.dtype, torch.float32))
    axes = (1, 2, 3) if over_batch else (2, 3)
    present = mask[None, :, :, None].to(layers)  # [1, B, T, 1]
    count = (present.sum(axes, keepdim=True) * layers.shape[3]).clamp(min=1)  # [1, B or 1, 1, 1]
    mean = (layers * present).sum(axes, keepdim=True) / count  # [L+1, B or 1, 1, 1]
    centred = (layers - mean) * present  # [L+1, B, T, D]
    variance = centred.square().sum(axes, keepdim=True) / count  # [L+1, B or 1, 1, 1]
    return (centred * (variance + EPSILON).rsqrt()).to(dtype)  # [L+1, B, T, D]


def _layer(mix: object, n_layers: int) -> int | None:
    """The layer of a mix of one layer; `None` for `weighted`."""
    if not is_mix(mix):
        raise InputError(f"mix: expected one of {choices(MIXES)}, got {mix!r}")
    if mix == WEIGHTED:
        return None
    layer = n_layers - 1 if mix == LAST else int(str(mix).partition(":")[2])
    if layer >= n_layers:
        raise InputError(f"mix: expected one of layer:0 to layer:{n_layers - 1} for this biLM, got {mix!r}")
    return layer
