"""Initialization, which the paper does not report."""

from typing import TypeVar

from torch import nn

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv1d)


def glorot(layer: _Layer) -> _Layer:
    """
    The layer with Glorot-uniform weights, and biases of 0. With torch's default, a third of the variance, a deep
    network does not learn during the first hundreds of updates.
    """
    nn.init.xavier_uniform_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer
