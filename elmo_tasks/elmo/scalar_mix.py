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
"""Over what a layer's mean and variance are taken, if they are."""

EPSILON = 1e-12
"""Added to the variance, as in the paper's code."""


def choices(values: Iterable[object]) -> str:
    """What a key may be, for an error message."""
    return ", ".join("false" if value is False else str(value) for value in values)


def is_mix(value: object) -> bool:
    """Whether a value is written as a mix must be."""
    return isinstance(value, str) and re.fullmatch(rf"{WEIGHTED}|{LAST}|layer:[0-9]+", value) is not None


def chosen_layer(mix: object, n_layers: int) -> int | None:
    """
    Which of the L+1 layers a `mix` takes alone; `None` for `weighted`, which takes all.

    # Parameters

    n_layers : `int`
        L+1.

    # Raises

    `InputError` for an unknown mix, or a layer that the biLM does not have.
    """
    if not is_mix(mix):
        raise InputError(f"mix must be one of {choices(MIXES)}, found {mix!r}")
    if mix == WEIGHTED:
        return None
    layer = n_layers - 1 if mix == LAST else int(str(mix).partition(":")[2])
    if layer >= n_layers:
        raise InputError(f"mix must be one of layer:0 to layer:{n_layers - 1} for this biLM, found {mix!r}")
    return layer


class ScalarMix(nn.Module):
    """
    `gamma * sum_j s_j h_j` with `s = softmax(w)` over the layers j = 0..L.

    # Parameters

    n_layers : `int`
        L+1, the context-free layer counted.
    mix : `str`
        `weighted`: all layers, with learned `w`, which starts at 0. `last`: the top layer alone. `layer:k`: layer k
        alone.
    gamma : `bool`
        Whether gamma is learned; it starts at 1, and stays there otherwise. `last` and `layer:k` have it, too.
    layer_norm : `False` or `str`
        Bring each layer to mean 0 and variance 1 before mixing, without gain and bias. `sentence`: statistics of
        each sentence's own tokens. `batch`: statistics of all tokens of the batch, as in the paper's code, so that a
        vector depends on the sentence's neighbours. Padding never counts.

    # Raises

    `InputError` for a value that is none of these.
    """

    def __init__(
        self, n_layers: int, *, mix: str = WEIGHTED, gamma: bool = True, layer_norm: bool | str = False
    ) -> None:
        super().__init__()
        if layer_norm not in LAYER_NORMS:
            raise InputError(f"layer_norm must be one of {choices(LAYER_NORMS)}, found {layer_norm!r}")
        self.n_layers, self.layer_norm = n_layers, layer_norm
        self.layer = chosen_layer(mix, n_layers)
        weighted = self.layer is None
        self.weights = nn.Parameter(torch.zeros(n_layers)) if weighted else None  # [L+1], before the softmax
        self.gamma = nn.Parameter(torch.ones(())) if gamma else None

    def forward(self, layers: Tensor, mask: Tensor) -> Tensor:
        """
        # Parameters

        layers : `Tensor`, shape [L+1, B, T, D]
        mask : `Tensor`, bool, shape [B, T]

        # Returns

        `Tensor`, shape [B, T, D]; zero where there is no token.
        """
        if len(layers) != self.n_layers:
            raise ValueError(f"wanted {self.n_layers} layers, found {len(layers)}")
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
        """The softmax-normalised `s`, shape [L+1], without gradient; 1 for the layer that is taken alone."""
        if self.weights is not None:
            return self.weights.detach().softmax(0)
        return nn.functional.one_hot(torch.tensor(self.layer), self.n_layers).float()

    def penalty(self, l2: float | None) -> Tensor:
        """
        `l2 * sum_j w_j^2` on the weights before the softmax (paper, section 3.3): a large `l2` makes the layers equal.
        Gamma is left free. A scalar; 0 where `l2` is `None` or 0.

        # Raises

        `InputError` for an `l2` where there are no weights.
        """
        if self.weights is None and l2:
            raise InputError(f"l2 must be null for a mix of one layer, which has no weights to penalise; found {l2}")
        if self.weights is None or not l2:
            return torch.zeros(()) if self.gamma is None else torch.zeros_like(self.gamma)
        return l2 * self.weights.square().sum()


def normalize(layers: Tensor, mask: Tensor, *, over_batch: bool) -> Tensor:
    """
    Each layer [B, T, D] minus its mean, over its standard deviation: one scalar each for a layer's whole batch, or for
    a layer's every sentence. Tokens outside the mask do not count and come out as zero. Sums are in float32 at least.
    """
    given, layers = layers.dtype, layers.to(torch.promote_types(layers.dtype, torch.float32))
    axes = (1, 2, 3) if over_batch else (2, 3)
    present = mask[None, :, :, None].to(layers)  # [1, B, T, 1]
    count = (present.sum(axes, keepdim=True) * layers.shape[3]).clamp(min=1)  # [1, B or 1, 1, 1]
    mean = (layers * present).sum(axes, keepdim=True) / count  # [L+1, B or 1, 1, 1]
    centred = (layers - mean) * present  # [L+1, B, T, D]
    variance = centred.square().sum(axes, keepdim=True) / count  # [L+1, B or 1, 1, 1]
    return (centred * (variance + EPSILON).rsqrt()).to(given)  # [L+1, B, T, D]
