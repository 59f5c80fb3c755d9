"""A feed-forward scorer of concatenated vectors, which does not build the concatenations."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from elmo_tasks.nn.initialization import glorot_uniform_
from elmo_tasks.nn.precision import at_least_float32


class FactorizedScorer(nn.Module):
    """
    `[a; b; ...] -> score` through two hidden layers with ReLU and dropout. The first layer's weight is split into one
    block per part and the products are added: a part of many concatenations, such as a word in the spans around it or a
    span in its pairs, is multiplied once.

    # Parameters

    - `parts`: widths of the parts.
    - `hidden_size`: units F of each hidden layer.
    - `dropout`: dropout of the hidden layers.
    """

    def __init__(self, parts: Sequence[int], *, hidden_size: int, dropout: float) -> None:
        super().__init__()
        self._parts = list(parts)
        self.first = nn.Linear(sum(parts), hidden_size)
        self.rest = nn.Sequential(
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden_size, hidden_size),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden_size, 1),
        )
        tf_glorot_init_(self)

    def weights(self) -> tuple[Tensor, ...]:
        """The first layer's weight for each part: [F, width]."""
        return self.first.weight.split(self._parts, 1)

    def forward(self, products: Tensor) -> Tensor:
        """Scores [...], at least float32, from the sum [..., F] of the products of all parts with their weights."""
        return at_least_float32(self.rest(products + self.first.bias).squeeze(-1))


def tf_glorot_init_(module: nn.Module) -> None:
    """Initializes all parameters of a module as the original code does."""
    with torch.no_grad():
        for parameter in module.parameters():
            glorot_uniform_(parameter)
