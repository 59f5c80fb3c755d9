"""Initialization, which the paper does not report."""

from typing import TypeVar

from torch import Tensor, nn

_Layer = TypeVar("_Layer", nn.Linear, nn.Conv1d)


def glorot(layer: _Layer) -> _Layer:
    """
    The layer with Glorot-uniform weights, and biases of 0. With torch's default, a
    third of the variance, a deep network does not learn during the first hundreds of
    updates.
    """
    nn.init.xavier_uniform_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def glorot_uniform_(tensor: Tensor) -> Tensor:
    """
    Initializes a tensor of one or two dimensions as TensorFlow's default does, for
    which a vector of n has n inputs and n outputs; `torch.nn.init.xavier_uniform_` does
    not accept vectors.
    """
    bound = (6.0 / (tensor.shape[0] + tensor.shape[-1])) ** 0.5
    return nn.init.uniform_(tensor, -bound, bound)
