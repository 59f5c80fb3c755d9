"""Character ids -> one vector per token, whatever its neighbours (paper, section 3.4; Jozefowicz et al. 2016)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.elmo.characters import CHARACTERS
from elmo_tasks.elmo.options import BiLmOptions
from elmo_tasks.elmo.product import product

TOKENS_AT_ONCE = 64
"""Tokens that are convolved together: at the paper's size their scores take 12 MB."""


class Convolution(nn.Conv1d):
    """Filters of one width over a token's characters; they always have a bias."""

    weight: nn.Parameter
    bias: nn.Parameter


class Highway(nn.Module):
    """One highway layer: `g * relu(W_t h + b_t) + (1 - g) * h` with `g = sigmoid(W_g h + b_g)`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def reset_parameters(self) -> None:
        """Weights N(0, 1/sqrt(width)); the gate's bias -2, so that a new layer lets its input through."""
        for layer, bias in ((self.transform, 0.0), (self.gate, -2.0)):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            nn.init.constant_(layer.bias, bias)

    def forward(self, inputs: Tensor) -> Tensor:
        gate = product(self.gate.weight, self.gate.bias)(inputs).sigmoid_()  # [N, F]
        transformed = product(self.transform.weight, self.transform.bias)(inputs).relu_()  # [N, F]
        return torch.lerp(inputs, transformed, gate)  # [N, F]


class TokenEncoder(nn.Module):
    """
    The biLM's character CNN: embedding, convolutions, max over the 50 slots, highways, projection.

    Padding characters take part in the convolutions and in the maximum with a vector of their own, as in
    bilm-tf; padding *tokens* (all ids 0) have character vectors of zero.

    # Parameters

    options : `BiLmOptions`
    """

    def __init__(self, options: BiLmOptions) -> None:
        super().__init__()
        self.options = options
        width = sum(count for _, count in options.filters)
        self.characters = nn.Parameter(torch.empty(CHARACTERS, options.character_dim))
        convolutions = (Convolution(options.character_dim, count, size) for size, count in options.filters)
        self.convolutions: Sequence[Convolution] = nn.ModuleList(convolutions)  # type: ignore[assignment]
        highways = (Highway(width) for _ in range(options.n_highway))
        self.highways: Sequence[Highway] = nn.ModuleList(highways)  # type: ignore[assignment]
        self.projection = nn.Linear(width, options.projection_dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initial values as bilm-tf draws them."""
        nn.init.uniform_(self.characters, -1.0, 1.0)
        for convolution, (size, _) in zip(self.convolutions, self.options.filters, strict=True):
            if self.options.activation == "relu":
                nn.init.uniform_(convolution.weight, -0.05, 0.05)
            else:
                nn.init.normal_(convolution.weight, std=(size * self.options.character_dim) ** -0.5)
            nn.init.zeros_(convolution.bias)
        for highway in self.highways:
            highway.reset_parameters()
        nn.init.normal_(self.projection.weight, std=self.projection.in_features**-0.5)
        nn.init.zeros_(self.projection.bias)

    def forward(self, character_ids: Tensor) -> Tensor:
        """
        # Parameters

        character_ids : `Tensor`, shape [N, 50]
            Ids 0..261 of N tokens, in any order.

        # Returns

        `Tensor`, shape [N, P].
        """
        table = functional.pad(self.characters, (0, 0, 1, 0))  # [262, 16]: row 0 is the padding token's
        characters = functional.embedding(character_ids, table)  # [N, C, 16]
        hidden = torch.cat([self._convolve(part) for part in self._parts(characters)])  # [N, F]
        for highway in self.highways:
            hidden = highway(hidden)  # [N, F]
        return product(self.projection.weight, self.projection.bias)(hidden)  # [N, P]

    @staticmethod
    def _parts(characters: Tensor) -> Sequence[Tensor]:
        """Without gradient few tokens at a time: what the convolutions make of them stays in the processor's cache."""
        return [characters] if characters.requires_grad else characters.split(TOKENS_AT_ONCE)

    def _convolve(self, characters: Tensor) -> Tensor:
        """Each convolution as one matrix product over windows, then the maximum over slots."""
        activation = getattr(torch, self.options.activation)
        pooled = []
        for convolution, (size, _) in zip(self.convolutions, self.options.filters, strict=True):
            windows = characters.unfold(1, size, 1)  # [N, 51 - w, 16, w]
            scores = product(convolution.weight)(windows.flatten(2))  # [N, 51 - w, n]
            pooled.append(activation(scores.amax(1) + convolution.bias))  # [N, n]
        return torch.cat(pooled, -1)
