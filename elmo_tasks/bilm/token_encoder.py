"""
Character ids -> context-free word vectors (paper, section 3.4; Jozefowicz et al. 2016).
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.characters import CHARACTERS, PAD_WORD, fit_slots, tokens_to_ids
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.packed_linear import Linear, PackableModule, needs_grad
from elmo_tasks.bilm.recurrence import uniform_sigmoid_

CHUNK = 16  # chunks of words have a multiple of this number of rows

CONVOLVED_AT_ONCE, PROJECTED_AT_ONCE = 2 * CHUNK, 8 * CHUNK
"""
The most rows of a chunk: few enough for a processor's cache, enough for efficient
products.
"""

_WITH_AMX = 4 * CHUNK
"""The one number of rows, where the order of sums in bfloat16 depends on it."""

_SHORT_WORDS = (10, 14)
"""
Slots, word boundaries included: most English words fit the first, nearly all the
second.
"""


def convolution_type(dtype: torch.dtype) -> torch.dtype:
    """
    The data type of convolutions where other products are in `dtype`. They are small,
    and stay in float32 where the others are in 8 bits.
    """
    if dtype == torch.int8:
        return torch.float32
    return dtype


class CharacterConvolution(PackableModule, nn.Conv1d):
    """Filters of one width over the characters of a word, with a bias."""

    weight: nn.Parameter
    bias: nn.Parameter

    def pack(self, dtype: torch.dtype) -> None:
        super().pack(convolution_type(dtype))


class PackableLinear(PackableModule, nn.Linear):
    """`nn.Linear` whose weight can be packed."""


class Highway(nn.Module):
    """
    A highway layer of `width` units: `g * relu(W_t x + b_t) + (1 - g) * x` with `g =
    sigmoid(W_g x + b_g)`.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = PackableLinear(width, width)
        self.gate = PackableLinear(width, width)

    def reset_parameters(self) -> None:
        """
        Weights N(0, 1/sqrt(width)); the gate's bias -2, so that an untrained layer
        passes its input on.
        """
        for layer, bias in ((self.transform, 0.0), (self.gate, -2.0)):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            nn.init.constant_(layer.bias, bias)

    def linear(self, *, dtype: torch.dtype, grad: bool) -> Linear:
        """
        Return the layer as a function [N, F] -> [N, F]; see `PackableModule.linear`.
        """
        gate = self.gate.linear("weight", self.gate.bias, dtype=dtype, grad=grad)
        transform = self.transform.linear(
            "weight", self.transform.bias, dtype=dtype, grad=grad
        )
        sigmoid = torch.sigmoid if grad else uniform_sigmoid_

        def highway(inputs: Tensor) -> Tensor:
            transformed = transform(inputs).relu_()
            return torch.lerp(inputs, transformed, sigmoid(gate(inputs)))

        return highway


class TokenEncoder(nn.Module):
    """
    The character CNN of the biLM: embedding, convolutions, max pooling over the
    characters, highways, projection.

    As in bilm-tf, padding characters have an embedding and take part in convolution and
    pooling. Padding *tokens* (all ids 0) have character embeddings of zero.

    On a CPU without gradients, words are encoded in padded chunks of few different
    sizes. All matrix products then have one of a few shapes, whatever the batch; see
    `is_batch_invariant`.
    """

    def __init__(self, options: BiLMOptions) -> None:
        super().__init__()
        self.options = options
        self.characters = nn.Parameter(torch.empty(CHARACTERS, options.character_dim))
        convolutions = nn.ModuleList()
        width = 0
        for size, count in options.filters:
            convolutions.append(
                CharacterConvolution(options.character_dim, count, size)
            )
            width += count
        self.convolutions: Sequence[CharacterConvolution] = convolutions  # type: ignore[assignment]
        highways = nn.ModuleList()
        for _ in range(options.n_highway):
            highways.append(Highway(width))
        self.highways: Sequence[Highway] = highways  # type: ignore[assignment]
        self.projection = PackableLinear(width, options.projection_dim)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initial values with the distributions of bilm-tf."""
        nn.init.uniform_(self.characters, -1.0, 1.0)
        for convolution, (size, _) in zip(
            self.convolutions, self.options.filters, strict=True
        ):
            if self.options.activation == "relu":
                nn.init.uniform_(convolution.weight, -0.05, 0.05)
            else:
                nn.init.normal_(
                    convolution.weight, std=(size * self.options.character_dim) ** -0.5
                )
            nn.init.zeros_(convolution.bias)
        for highway in self.highways:
            highway.reset_parameters()
        nn.init.normal_(self.projection.weight, std=self.projection.in_features**-0.5)
        nn.init.zeros_(self.projection.bias)

    def forward(
        self, character_ids: Tensor, *, precision: torch.dtype | None = None
    ) -> Tensor:
        """
        Vectors [N, P] of the words with ids [N, C], C as in the options.

        `precision` is the data type of the matrix products and everything between them.
        Character embeddings keep the type of the parameters: their gradients are sums
        over so many characters that bfloat16 would lose most of them.
        """
        grad = needs_grad(self)
        dtype = precision or self.characters.dtype
        convolve, highways, projection = self._functions(dtype, grad=grad)

        def project(hidden: Tensor) -> Tensor:
            for highway in highways:
                hidden = highway(hidden)
            return projection(hidden)

        convolved_at_once: range | None = None
        projected_at_once: range | None = None
        if not grad:
            device = character_ids.device.type
            convolved_at_once = _chunks(CONVOLVED_AT_ONCE, dtype, device)
            projected_at_once = _chunks(PROJECTED_AT_ONCE, dtype, device)
        order, groups = self._by_length(character_ids)
        convolved = [_map_rows(convolve, group, convolved_at_once) for group in groups]
        hidden = torch.cat(convolved)[order.argsort()]  # [N, F]
        return _map_rows(project, hidden, projected_at_once).to(self.characters.dtype)

    def dense(
        self, character_ids: Tensor, *, precision: torch.dtype | None = None
    ) -> Tensor:
        """
        As `forward`, up to rounding, but all words at once, whatever their number and
        length.
        """
        dtype = precision or self.characters.dtype
        convolve, highways, projection = self._functions(dtype, grad=True)
        hidden = convolve(character_ids)  # [N, F]
        for highway in highways:
            hidden = highway(hidden)
        return projection(hidden).to(self.characters.dtype)

    @torch.no_grad()
    def is_batch_invariant(self, *, precision: torch.dtype | None = None) -> bool:
        """
        Whether a word's vector is the same, bit for bit, whichever words are encoded
        with it on a CPU.

        A vector can only depend on the size of the word's chunks and on its rows in
        them. This puts the same word into each row of each chunk of each size, and
        compares the results. Products of equal shape are tested once; what follows them
        is elementwise.
        """
        dtype = precision or self.characters.dtype
        convolve, _, projection = self._functions(dtype, grad=False)
        short_medium_long = ["harbour", "lighthouse", "antidisestablishmentarianism"]
        ids = torch.from_numpy(tokens_to_ids(short_medium_long).astype("int64"))
        ids = fit_slots(ids, self.options.max_characters_per_token)
        _, groups = self._by_length(ids)
        sizes = _chunks(CONVOLVED_AT_ONCE, dtype, "cpu")
        for group in groups:
            if not _is_row_invariant(convolve, group[:1], sizes):
                return False
        products = [projection]
        for highway in self.highways[:1]:
            products.append(highway.gate.linear("weight", dtype=dtype, grad=False))
        hidden = convolve(groups[0][:1])  # [1, F]
        sizes = _chunks(PROJECTED_AT_ONCE, dtype, "cpu")
        for product in products:
            if not _is_row_invariant(product, hidden, sizes):
                return False
        return True

    def _functions(
        self, dtype: torch.dtype, *, grad: bool
    ) -> tuple[Linear, list[Linear], Linear]:
        """
        Convolutions with pooling, ids [n, C] -> [n, F]; highways, [n, F] -> [n, F];
        projection, [n, F] -> [n, P].
        """
        # [262, 16]; row 0 is that of padding tokens
        table = functional.pad(self.characters, (0, 0, 1, 0))
        activation = getattr(torch, self.options.activation)
        score_type = convolution_type(dtype)
        scorers = []
        for layer in self.convolutions:
            scorers.append(layer.linear("weight", dtype=score_type, grad=grad))

        def convolve(character_ids: Tensor) -> Tensor:
            characters = functional.embedding(character_ids, table)  # [n, C, 16]
            pooled = []
            for layer, score in zip(self.convolutions, scorers, strict=True):
                # [n, C + 1 - width, 16, width]
                windows = characters.unfold(1, layer.kernel_size[0], 1)
                scores = score(windows.flatten(2)).amax(1)  # [n, filters]
                pooled.append(activation(scores + layer.bias.to(score_type)))
            return torch.cat(pooled, -1)

        highways = [highway.linear(dtype=dtype, grad=grad) for highway in self.highways]
        bias = self.projection.bias
        projection = self.projection.linear("weight", bias, dtype=dtype, grad=grad)
        return convolve, highways, projection

    def _by_length(self, character_ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """
        Sort words by length, [N], and split them into groups [n, C] of short and long
        words without needless padding.

        All windows inside the padding are equal, so the maximum needs only one per
        filter width: C is the length of the longest word of a group plus the width of
        the widest filter.
        """
        slots = (character_ids != PAD_WORD + 1).sum(1)  # [N]; all of a padding token
        lengths, order = slots.sort()
        short = [(lengths <= limit).sum() for limit in _SHORT_WORDS]
        ends = torch.stack(short).tolist() + [len(order)]
        limits = list(_SHORT_WORDS) + [self.options.max_characters_per_token]
        padding = max(size for size, _ in self.options.filters)
        groups = []
        start = 0
        for end, limit in zip(ends, limits, strict=True):
            if start < end:
                groups.append(character_ids[order[start:end], : limit + padding])
            start = end
        return order, groups or [character_ids]


def _chunks(most: int, dtype: torch.dtype, device: str) -> range:
    """The numbers of rows that a chunk can have, whatever the batch."""
    if device != "cpu":
        return range(CHUNK, 16 * most + 1, CHUNK)  # accelerators need larger products
    if dtype == torch.bfloat16 and torch.cpu._is_amx_tile_supported():
        return range(min(most, _WITH_AMX), min(most, _WITH_AMX) + 1)
    return range(CHUNK, most + 1, CHUNK)


def _map_rows(function: Linear, rows: Tensor, sizes: range | None) -> Tensor:
    """
    `function(rows)` for rows [N, K]; if `sizes` is given, in the largest chunks, the
    last one padded to a size.
    """
    if sizes is None:
        return function(rows)
    padded = functional.pad(rows, (0, 0, 0, -len(rows) % sizes[0]))
    results = [function(chunk) for chunk in padded.split(sizes[-1])]
    return torch.cat(results)[: len(rows)]


def _is_row_invariant(function: Linear, row: Tensor, sizes: range) -> bool:
    """
    Whether `function` maps `row` [1, K] to the same values in each row of each chunk
    that `_map_rows` makes.
    """
    results = torch.cat([function(row.expand(rows, -1)) for rows in sizes])
    return torch.equal(results, results[:1].expand_as(results))
