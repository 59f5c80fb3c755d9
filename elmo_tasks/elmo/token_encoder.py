"""Character ids -> one vector per token, whatever its neighbours (paper, section 3.4; Jozefowicz et al. 2016)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.elmo.characters import CHARACTERS, MAX_CHARACTERS, PAD_WORD
from elmo_tasks.elmo.held_once import HeldOnce
from elmo_tasks.elmo.options import BiLmOptions
from elmo_tasks.elmo.product import product

TOKENS_AT_ONCE = 64
"""Tokens that are convolved together: at the paper's size their scores take 12 MB."""

_SHORT_WORDS = (10, 14)  # Begin and end of word included: most tokens of English fit the first, nearly all the second.


class Convolution(nn.Conv1d):
    """Filters of one width over a token's characters; they always have a bias."""

    weight: nn.Parameter
    bias: nn.Parameter


class Linear(HeldOnce, nn.Linear):
    """One matrix and its bias, read by `product`."""


class Highway(nn.Module):
    """One highway layer: `g * relu(W_t h + b_t) + (1 - g) * h` with `g = sigmoid(W_g h + b_g)`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = Linear(width, width)
        self.gate = Linear(width, width)

    def reset_parameters(self) -> None:
        """Weights N(0, 1/sqrt(width)); the gate's bias -2, so that a new layer lets its input through."""
        for layer, bias in ((self.transform, 0.0), (self.gate, -2.0)):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            nn.init.constant_(layer.bias, bias)

    def forward(self, inputs: Tensor) -> Tensor:
        gate = product(self.gate.weight, self.gate.bias, dtype=inputs.dtype)(inputs).sigmoid_()  # [N, F]
        transformed = product(self.transform.weight, self.transform.bias, dtype=inputs.dtype)(inputs).relu_()  # [N, F]
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
        self.projection = Linear(width, options.projection_dim)
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

    def forward(self, character_ids: Tensor, *, precision: torch.dtype | None = None) -> Tensor:
        """
        # Parameters

        character_ids : `Tensor`, shape [N, 50]
            Ids 0..261 of N tokens, in any order.
        precision : `torch.dtype`, optional
            Type of the matrix products and of what stands between them. The characters' vectors keep the parameters'
            type: their gradients are sums over so many slots that a short mantissa would lose most of them.

        # Returns

        `Tensor`, shape [N, P], in the parameters' type.
        """
        table = functional.pad(self.characters, (0, 0, 1, 0))  # [262, 16]: row 0 is the padding token's
        dtype = precision or table.dtype
        order, groups = self._by_length(character_ids)
        parts = [
            self._convolve(functional.embedding(ids, table), dtype) for group in groups for ids in self._parts(group)
        ]
        hidden = torch.cat(parts)[order.argsort()]  # [N, F]
        for highway in self.highways:
            hidden = highway(hidden)  # [N, F]
        vectors = product(self.projection.weight, self.projection.bias, dtype=dtype)(hidden)  # [N, P]
        return vectors.to(table.dtype)

    def _by_length(self, character_ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """
        The tokens from short to long, [N] and groups [n, C] of theirs, without the work that long padding costs.

        Windows that lie wholly behind a token are all alike, so that one of each width suffices for the maximum over
        slots: behind the longest token of a group there are as many slots as the widest convolution has.
        """
        lengths, order = (character_ids != PAD_WORD + 1).sum(1).sort()  # [N]; a padding token counts as long
        limits = torch.tensor(_SHORT_WORDS, device=lengths.device)
        ends = torch.searchsorted(lengths, limits, right=True).tolist()
        padding = max(size for size, _ in self.options.filters)
        bounds = zip((0, *ends), (*ends, len(order)), (*_SHORT_WORDS, MAX_CHARACTERS), strict=True)
        groups = [character_ids[order[start:end], : limit + padding] for start, end, limit in bounds if start < end]
        return order, groups or [character_ids]

    def _parts(self, character_ids: Tensor) -> Sequence[Tensor]:
        """Without gradient few tokens at a time: what the convolutions make of them stays in the processor's cache."""
        learns = torch.is_grad_enabled() and self.characters.requires_grad
        return [character_ids] if learns else character_ids.split(TOKENS_AT_ONCE)

    def _convolve(self, characters: Tensor, dtype: torch.dtype) -> Tensor:
        """
        Each convolution as one matrix product over windows, then the maximum over slots: vectors [N, C, 16] -> [N, F].
        """
        activation = getattr(torch, self.options.activation)
        pooled = []
        for convolution, (size, _) in zip(self.convolutions, self.options.filters, strict=True):
            windows = characters.unfold(1, size, 1)  # [N, C + 1 - w, 16, w]
            scores = product(convolution.weight, dtype=dtype)(windows.flatten(2))  # [N, C + 1 - w, n]
            pooled.append(activation(scores.amax(1) + convolution.bias.to(dtype)))  # [N, n]
        return torch.cat(pooled, -1)
