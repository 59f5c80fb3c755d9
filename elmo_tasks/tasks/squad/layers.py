"""
Parts of the SQuAD model: residual self-attention, chained pointers, and the best spans.
"""

from typing import NamedTuple, cast

import torch
from allennlp.modules import InputVariationalDropout
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from elmo_tasks.nn.attention import SelfAttention
from elmo_tasks.nn.encoders.gru import Gru
from elmo_tasks.nn.initialization import glorot
from elmo_tasks.nn.linear import Linear, linear


class MergeAttended(nn.Sequential):
    """
    One vector of `size` for each passage vector `c_t` of `width` D and what
    `BiAttention` gives (Clark and Gardner 2017, section 2):

        y_t = ReLU(W [c_t; a_t; c_t * a_t; c_t * b] + bias)

    The four vectors are never side by side: with ELMo at the output they would be the
    largest tensor of the model. W is taken in four blocks, the last of which b is
    multiplied into; `c_t * a_t` is computed again for the gradient.
    """

    def __init__(self, *, width: int, size: int) -> None:
        super().__init__(glorot(Linear(4 * width, size)), nn.ReLU())

    def forward(  # type: ignore[override]
        self, passage: Tensor, attended: Tensor, summary: Tensor
    ) -> Tensor:
        """c [B, T, D], a [B, T, D] and b [B, D] -> [B, T, size]."""
        layer = cast(Linear, self[0])
        of_c, of_a, of_product, of_summary = layer.weight.chunk(4, 1)  # [size, D]
        of_passage = of_c + of_summary * summary[:, None, :]  # [B, size, D]
        y = passage @ of_passage.transpose(1, 2) + layer.bias  # [B, T, size]
        y = y + linear(attended, of_a)
        y = y + checkpoint(
            _product_of,
            passage,
            attended,
            of_product,
            use_reentrant=False,
            preserve_rng_state=False,
        )
        return self[1](y)


def _product_of(passage: Tensor, attended: Tensor, weight: Tensor) -> Tensor:
    """`W (c_t * a_t)` [B, T, size] for W [size, D]."""
    return linear(passage * attended, weight)


class ResidualSelfAttention(nn.Module):
    """
    Self-attention whose output is added to its input (paper, appendix A.4; Clark and
    Gardner 2017, section 2):

        g = GRU(x)
        a = self-attention of g
        y = x + ReLU(W [a; g; a * g] + b)

    The GRU has `size` units per direction, x and y twice as many; variational `dropout`
    is before and after it.
    """

    def __init__(self, *, size: int, dropout: float) -> None:
        super().__init__()
        self.gru = Gru(input_size=2 * size, hidden_size=size)
        self.attention = SelfAttention(2 * size)
        self.merge = nn.Sequential(glorot(Linear(6 * size, 2 * size)), nn.ReLU())
        self.dropout = InputVariationalDropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x [B, T, D] and its mask [B, T], bool -> y [B, T, D]."""
        g = self.dropout(self.gru(self.dropout(x), mask))  # [B, T, D]
        a = self.attention(g, mask)  # [B, T, D]
        return x + self.merge(torch.cat([a, g, a * g], -1))


class ChainedPointers(nn.Module):
    """
    Logits of the answer's first and last token: a GRU over x for the start, another
    over x and the first GRU's output for the end (Clark and Gardner 2017; the paper
    mentions only the linear layers). Both have `size` units per direction, x has twice
    as many.
    """

    def __init__(self, *, size: int) -> None:
        super().__init__()
        self.start_gru = Gru(input_size=2 * size, hidden_size=size)
        self.end_gru = Gru(input_size=4 * size, hidden_size=size)
        # The softmax is invariant to a bias.
        self.start = glorot(nn.Linear(2 * size, 1, bias=False))
        self.end = glorot(nn.Linear(2 * size, 1, bias=False))

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """
        x [B, T, D] and its mask [B, T], bool -> start and end logits, [B, T] each.
        """
        starts = self.start_gru(x, mask)  # [B, T, D]
        ends = self.end_gru(torch.cat([x, starts], -1), mask)  # [B, T, D]
        return self.start(starts).squeeze(-1), self.end(ends).squeeze(-1)


class Spans(NamedTuple):
    """The N best spans of each of B passages, best first."""

    starts: Tensor  # [B, N], the first token of each span
    ends: Tensor  # [B, N], the last token, inclusive
    # [B, N], the sum of both logits; -inf if a passage has fewer than N spans
    scores: Tensor
    probabilities: Tensor  # [B, N], the softmax over the scores of all spans


def best_spans(
    start_logits: Tensor,
    end_logits: Tensor,
    mask: Tensor,
    *,
    max_length: int,
    count: int = 1,
) -> Spans:
    """
    The `count` best spans of at most `max_length` tokens, from start and end logits [B,
    T] and the mask [B, T] of tokens, which padding follows. The softmax is over the
    spans within that length.
    """
    length = start_logits.shape[1]
    max_length = min(max_length, length)  # a longer span takes memory and fits nowhere
    ends = end_logits.masked_fill(~mask, -torch.inf)  # [B, T]
    beyond = ends.new_full((len(ends), max_length - 1), -torch.inf)
    padded = torch.cat([ends, beyond], 1)
    reach = padded.unfold(1, max_length, 1)  # [B, T, W], W the width less 1
    scores = (start_logits[:, :, None] + reach).flatten(1)  # [B, T * W]
    top, indices = scores.topk(min(count, length * max_length), dim=1)  # [B, N]
    first = indices // max_length
    width = indices % max_length
    probabilities = (top - scores.logsumexp(1, keepdim=True)).exp()  # [B, N]
    return Spans(first, first + width, top, probabilities)
