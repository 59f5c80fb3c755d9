"""Initial values of parameters, for the `initializer` of a config."""

from typing import Annotated, Any

import torch
from allennlp.nn.initializers import Initializer
from overrides import overrides
from torch import Tensor

from elmo_tasks.errors import InputError
from elmo_tasks.settings import Filled, ListOf, Number, checked


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
            wanted = list(tensor.shape)
            found = list(self.values.shape)
            raise InputError(
                f"{parameter_name}: expected values of shape {wanted}, got {found}"
            )
        with torch.no_grad():
            tensor.copy_(self.values)
