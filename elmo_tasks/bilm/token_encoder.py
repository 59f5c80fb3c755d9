"""Character ids -> context-free word vectors (paper, section 3.4; Jozefowicz et al. 2016)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.characters import CHARACTERS, PAD_WORD, fit_slots, tokens_to_ids
from elmo_tasks.bilm.options import BiLMOptions
from elmo_tasks.bilm.packed_linear import Linear, PackableModule, needs_grad

CHUNK = 16  # chunks of words have a multiple of this number of rows

CONVOLVED_AT_ONCE, PROJECTED_AT_ONCE = 2 * CHUNK, 8 * CHUNK
"""The most rows of a chunk: few enough for a processor's cache, enough for efficient products."""

_WITH_AMX = (
    4 * CHUNK
)  # the one number of rows, where the order of sums in bfloat16 depends on it
_SHORT_WORDS = (
    10,
    14,
)  # Word boundaries included: most English words fit the first, nearly all the second.


class CharacterConvolution(PackableModule, nn.Conv1d):
    """Filters of one width over the characters of a word, with a bias."""

    weight: nn.Parameter
    bias: nn.Parameter


class PackableLinear(PackableModule, nn.Linear):
    """`nn.Linear` whose weight can be packed."""


class Highway(nn.Module):
    """A highway layer of `width` units: `g * relu(W_t x + b_t) + (1 - g) * x` with `g = sigmoid(W_g x + b_g)`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = PackableLinear(width, width)
        self.gate = PackableLinear(width, width)

    def reset_parameters(self) -> None:
        """Weights N(0, 1/sqrt(width)); the gate's bias -2, so that an untrained layer passes its input on."""
        for layer, bias in ((self.transform, 0.0), (self.gate, -2.0)):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            nn.init.constant_(layer.bias, bias)

    def linear(self, *, dtype: torch.dtype, grad: bool) -> Linear:
        """Return the layer as a function [N, F] -> [N, F]; see `PackableModule.linear`."""
        gate = self.gate.linear("weight", self.gate.bias, dtype=dtype, grad=grad)
        transform = self.transform.linear(
            "weight", self.transform.bias, dtype=dtype, grad=grad
        )
        sigmoid = torch.sigmoid if grad else _sigmoid_
        return lambda inputs: torch.lerp(
            inputs, transform(inputs).relu_(), sigmoid(gate(inputs))
        )


class TokenEncoder(nn.Module):
    """
    The character CNN of the biLM: embedding, convolutions, max pooling over the characters, highways, projection.

    As in bilm-tf, padding characters have an embedding and take part in convolution and pooling. Padding *tokens* (all
    ids 0) have character embeddings of zero.

    On a CPU without gradients, words are encoded in padded chunks of few different sizes. All matrix products then
    have one of a few shapes, whatever the batch; see `is_batch_invariant`.
    """

    def __init__(self, options: BiLMOptions) -> None:
        super().__init__()
        self.options = options
        width = sum(count for _, count in options.filters)
        self.characters = nn.Parameter(torch.empty(CHARACTERS, options.character_dim))
        convolutions = (
            CharacterConvolution(options.character_dim, count, size)
            for size, count in options.filters
        )
        self.convolutions: Sequence[CharacterConvolution] = nn.ModuleList(convolutions)  # type: ignore[assignment]
        highways = (Highway(width) for _ in range(options.n_highway))
        self.highways: Sequence[Highway] = nn.ModuleList(highways)  # type: ignore[assignment]
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

        `precision` is the data type of the matrix products and everything between them. Character embeddings keep the
        type of the parameters: their gradients are sums over so many characters that bfloat16 would lose most of them.
        """
        grad = needs_grad(self)
        convolve, highways, projection = self._functions(
            precision or self.characters.dtype, grad=grad
        )
        order, groups = self._by_length(character_ids)
        device, dtype = character_ids.device.type, precision or self.characters.dtype
        chunks = None if grad else _chunks(CONVOLVED_AT_ONCE, dtype, device)
        convolved = [_map_rows(convolve, group, chunks) for group in groups]
        hidden = torch.cat(convolved)[order.argsort()]  # [N, F]

        def project(hidden: Tensor) -> Tensor:
            for highway in highways:
                hidden = highway(hidden)
            return projection(hidden)

        vectors = _map_rows(
            project, hidden, None if grad else _chunks(PROJECTED_AT_ONCE, dtype, device)
        )  # [N, P]
        return vectors.to(self.characters.dtype)

    @torch.no_grad()
    def is_batch_invariant(self, *, precision: torch.dtype | None = None) -> bool:
        """
        Whether a word's vector is the same, bit for bit, whichever words are encoded with it on a CPU.

        A vector can only depend on the size of the word's chunks and on its rows in them. This puts the same word into
        each row of each chunk of each size, and compares the results. Products of equal shape are tested once; what
        follows them is elementwise.
        """
        dtype = precision or self.characters.dtype
        convolve, _, projection = self._functions(dtype, grad=False)
        products = [
            highway.gate.linear("weight", dtype=dtype, grad=False)
            for highway in self.highways[:1]
        ]
        ids = tokens_to_ids(
            ["harbour", "lighthouse", "antidisestablishmentarianism"]
        )  # short, medium, long
        slots = self.options.max_characters_per_token
        _, groups = self._by_length(
            fit_slots(torch.from_numpy(ids.astype("int64")), slots)
        )
        hidden = convolve(groups[0][:1])  # [1, F]
        chunks = [
            _chunks(most, dtype, "cpu")
            for most in (CONVOLVED_AT_ONCE, PROJECTED_AT_ONCE)
        ]
        return all(
            _is_row_invariant(convolve, group[:1], chunks[0]) for group in groups
        ) and all(
            _is_row_invariant(product, hidden, chunks[1])
            for product in (*products, projection)
        )

    def _functions(
        self, dtype: torch.dtype, *, grad: bool
    ) -> tuple[Linear, list[Linear], Linear]:
        """Convolutions with pooling, ids [n, C] -> [n, F]; highways, [n, F] -> [n, F]; projection, [n, F] -> [n, P]."""
        table = functional.pad(
            self.characters, (0, 0, 1, 0)
        )  # [262, 16]; row 0 is that of padding tokens
        activation = getattr(torch, self.options.activation)
        scorers = [
            layer.linear("weight", dtype=dtype, grad=grad)
            for layer in self.convolutions
        ]

        def convolve(character_ids: Tensor) -> Tensor:
            characters = functional.embedding(character_ids, table)  # [n, C, 16]
            pooled = []
            for layer, score in zip(self.convolutions, scorers, strict=True):
                windows = characters.unfold(
                    1, layer.kernel_size[0], 1
                )  # [n, C + 1 - w, 16, w]
                scores = score(windows.flatten(2)).amax(1)  # [n, filters]
                pooled.append(activation(scores + layer.bias.to(dtype)))
            return torch.cat(pooled, -1)

        highways = [highway.linear(dtype=dtype, grad=grad) for highway in self.highways]
        return (
            convolve,
            highways,
            self.projection.linear(
                "weight", self.projection.bias, dtype=dtype, grad=grad
            ),
        )

    def _by_length(self, character_ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """
        Sort words by length, [N], and split them into groups [n, C] of short and long words without needless padding.

        All windows inside the padding are equal, so the maximum needs only one per filter width: C is the length of the
        longest word of a group plus the width of the widest filter.
        """
        lengths, order = (
            (character_ids != PAD_WORD + 1).sum(1).sort()
        )  # [N]; padding tokens count as long words
        short = [(lengths <= limit).sum() for limit in _SHORT_WORDS]
        ends = torch.stack(short).tolist()
        padding = max(size for size, _ in self.options.filters)
        bounds = zip(
            (0, *ends),
            (*ends, len(order)),
            (*_SHORT_WORDS, self.options.max_characters_per_token),
            strict=True,
        )
        groups = [
            character_ids[order[start:end], : limit + padding]
            for start, end, limit in bounds
            if start < end
        ]
        return order, groups or [character_ids]


def _sigmoid_(inputs: Tensor) -> Tensor:
    """
    The sigmoid, which may overwrite its inputs, with the same rounding in each element of a tensor. `torch.sigmoid`
    rounds differently in the last elements of a tensor, and where threads divide it.
    """
    wide = inputs.to(torch.promote_types(inputs.dtype, torch.float32))
    return wide.neg_().exp_().add_(1.0).reciprocal_().to(inputs.dtype)


def _chunks(most: int, dtype: torch.dtype, device: str) -> range:
    """The numbers of rows that a chunk can have, whatever the batch."""
    if device != "cpu":
        return range(CHUNK, 16 * most + 1, CHUNK)  # accelerators need larger products
    if dtype == torch.bfloat16 and torch.cpu._is_amx_tile_supported():
        return range(min(most, _WITH_AMX), min(most, _WITH_AMX) + 1)
    return range(CHUNK, most + 1, CHUNK)


def _map_rows(function: Linear, rows: Tensor, sizes: range | None) -> Tensor:
    """`function(rows)` for rows [N, K]; if `sizes` is given, in the largest chunks, the last one padded to a size."""
    if sizes is None:
        return function(rows)
    padded = functional.pad(rows, (0, 0, 0, -len(rows) % sizes[0]))
    return torch.cat([function(chunk) for chunk in padded.split(sizes[-1])])[
        : len(rows)
    ]


def _is_row_invariant(function: Linear, row: Tensor, sizes: range) -> bool:
    """Whether `function` maps `row` [1, K] to the same values in each row of each chunk that `_map_rows` makes."""
    results = torch.cat([function(row.expand(rows, -1)) for rows in sizes])
    return torch.equal(results, results[:1].expand_as(results))
