"""A network of two hidden layers that scores concatenations without making them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from elmo_tasks.modules.coupled_lstm import glorot_uniform_
from elmo_tasks.modules.precision import at_least_float32


class FactorizedScorer(nn.Module):
    """
    `[a; b; ...] -> score` through two hidden layers of ReLU and dropout. The first layer's weight has a block for each
    part, and the products are added: where a part stands in many concatenations, as a word in the spans around it and
    a span in its pairs, it is multiplied once.

    # Parameters

    parts : `Sequence[int]`
        Widths of the parts.
    hidden_size : `int`
        Units F of each hidden layer.
    dropout : `float`
        Share of the hidden units that is dropped.
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
        """The scores [...], float32 at least, for the summed products [..., F] of all parts and their weights."""
        return at_least_float32(self.rest(products + self.first.bias).squeeze(-1))


def tf_glorot_init_(module: nn.Module) -> None:
    """Gives all weights, biases and tables of a module the starting values of the original code."""
    with torch.no_grad():
        for parameter in module.parameters():
            glorot_uniform_(parameter)
