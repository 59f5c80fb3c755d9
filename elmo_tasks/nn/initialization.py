"""
Initialization, which the paper does not report, and initial values for the `initializer`
of a config.
"""

from typing import Annotated, Any, TypeVar

import torch
from allennlp.nn.initializers import Initializer
from overrides import overrides
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Filled, ListOf, Number, checked

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


@Initializer.register("elmo_tasks_values")
class ValuesInitializer(Initializer):
    """
    Sets a vector to given values, such as the weights of ELMo's layers before the
    softmax.

    # Parameters

    - `values`: the elements of the vector.

    Raises `InputError` if the parameter has another shape.
    """

    @checked
    def __init__(self, values: Annotated[ListOf[Number], Filled]) -> None:
        self.values = torch.tensor(values)

    @overrides
    def __call__(self, tensor: Tensor, parameter_name: str = "", **_: Any) -> None:
        if tensor.shape != self.values.shape:
            expected = list(tensor.shape)
            found = list(self.values.shape)
            raise InputError(
                f"{parameter_name}: expected values of shape {expected}, got {found}"
            )
        with torch.no_grad():
            tensor.copy_(self.values)
