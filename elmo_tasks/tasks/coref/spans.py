"""
Words -> all spans up to a width, their vectors and their mention scores, and the best
of them (Lee et al., 2017, sections 3 to 5).

A grid [N, W] holds the spans of words n to n + w, inclusive, of a document of N words;
spans that exceed their sentence are masked.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.nn.initialization import glorot_uniform_
from elmo_tasks.nn.linear import Linear, at_least_float32, linear


class FactorizedScorer(nn.Module):
    """
    `[a; b; ...] -> score` through two hidden layers with ReLU and dropout.

    The first layer's weight is split into one block per part, and the products are
    added:

        W [a; b; ...] = W_a a + W_b b + ...

    So a part of many concatenations, such as a word in the spans around it or a span in
    its pairs, is multiplied once. `parts` are the widths of the parts, `hidden_size`
    the units F of each layer.
    """

    def __init__(
        self, parts: Sequence[int], *, hidden_size: int, dropout: float
    ) -> None:
        super().__init__()
        self._parts = list(parts)
        self.first = Linear(sum(parts), hidden_size)
        self.rest = nn.Sequential(
            nn.ReLU(),
            nn.Dropout(dropout),
            Linear(hidden_size, hidden_size),
            nn.ReLU(),
            nn.Dropout(dropout),
            Linear(hidden_size, 1),
        )
        tf_glorot_init_(self)

    def weights(self) -> tuple[Tensor, ...]:
        """The first layer's weight for each part: [F, width]."""
        return self.first.weight.split(self._parts, 1)

    def forward(self, products: Tensor) -> Tensor:
        """
        Scores [...], at least float32, from the sum [..., F] of the products of all
        parts with their weights.
        """
        return at_least_float32(self.rest(products + self.first.bias).squeeze(-1))


def tf_glorot_init_(module: nn.Module) -> None:
    """Initializes all parameters of a module as the original code does."""
    with torch.no_grad():
        for parameter in module.parameters():
            glorot_uniform_(parameter)


def prune_crossing_spans(scores: Tensor, mask: Tensor, *, limit: int) -> Tensor:
    """
    Takes spans in the order of their scores, skips those that cross a span already
    taken, and stops at `limit`. Two spans cross if they overlap and neither contains
    the other.

    Scores and mask [N, W] are of the spans of words n to n + w, inclusive; valid spans
    lie within a sentence, and ties are broken by position. Returns [K, 2], on the CPU:
    n and w of the spans taken, in the order of the text.
    """
    count, widths = scores.shape
    valid = torch.where(mask, scores.detach(), -torch.inf)
    order = valid.flatten().argsort(descending=True, stable=True)
    last_end = [-1] * (count + widths)  # of the spans taken that start at each word
    first_start = [count] * (count + widths)  # of the spans taken that end at each word
    taken: list[tuple[int, int]] = []
    for index in torch.where(mask.flatten()[order], order, -1).tolist():
        if index < 0:
            continue
        start, width = divmod(index, widths)
        end = start + width
        crosses_later = max(last_end[start + 1 : end + 1], default=-1) > end
        crosses_earlier = min(first_start[start:end], default=count) < start
        if crosses_later or crosses_earlier:
            continue
        taken.append((start, width))
        last_end[start] = max(end, last_end[start])
        first_start[end] = min(start, first_start[end])
        if len(taken) == limit:
            break
    return torch.tensor(sorted(taken), dtype=torch.long).view(-1, 2)


class SpanGrid(NamedTuple):
    """All spans of a document of N words, of up to W words."""

    mask: Tensor  # [N, W], bool, True for spans within a sentence
    scores: Tensor  # [N, W], mention scores; undefined for masked spans
    attention: Tensor  # [N, W, W], the weights of each span's words in its head
    widths: Tensor  # [N, W, E], width embeddings, after dropout


class SpanScorer(nn.Module):
    """
    The vectors g of spans and their mention scores (Lee et al., 2017, section 4):

        g = [h_first; h_last; width embedding; head]
        head = sum_t softmax_t(w . h_t) x_t, over the words t of the span
        s_m = network(g)

    The network computes the scores without the vectors of all spans (see
    `FactorizedScorer`): memory grows with N W.

    # Parameters

    - `encoded_size`, `value_size`: widths of h (D) and of x (V).
    - `max_width`: words of the longest span (W).
    - `feature_size`: width of the width embeddings (E).
    - `hidden_size`: units of each hidden layer.
    - `dropout`: on the hidden layers and the width embeddings.
    """

    def __init__(
        self,
        *,
        encoded_size: int,
        value_size: int,
        max_width: int,
        feature_size: int,
        hidden_size: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.max_width = max_width
        # The softmax would cancel a bias.
        self.attention = nn.Linear(encoded_size, 1, bias=False)
        self.widths = nn.Embedding(max_width, feature_size)
        self.dropout = nn.Dropout(dropout)
        parts = [encoded_size, encoded_size, feature_size, value_size]
        self.score = FactorizedScorer(parts, hidden_size=hidden_size, dropout=dropout)
        self.output_size = sum(parts)
        tf_glorot_init_(self.attention)
        tf_glorot_init_(self.widths)

    def forward(self, encoded: Tensor, values: Tensor, lengths: Tensor) -> SpanGrid:
        """
        h [N, D] and x [N, V] of all words of a document, and the lengths [S] of its
        sentences, which add up to N -> the grid of its spans.
        """
        mask = span_mask(lengths, self.max_width, words=len(encoded))
        attention = self._attention(encoded)
        widths = self.widths.weight.expand(len(encoded), -1, -1)  # [N, W, E]
        widths = self.dropout(widths)
        first, last, width, head = self.score.weights()
        of_heads = _windows(linear(values, head), self.max_width)  # [N, W, F]
        products = (linear(encoded, first))[:, None]  # [N, 1, F]
        products = products + _windows(
            linear(encoded, last), self.max_width
        )  # [N, W, F]
        products = products + linear(widths, width)
        products = products + torch.bmm(attention, of_heads)
        return SpanGrid(mask, self.score(products), attention, widths)

    def vectors(
        self, grid: SpanGrid, encoded: Tensor, values: Tensor, spans: Tensor
    ) -> Tensor:
        """
        The vectors [K, `output_size`] of `spans` [K, 2], given as n and w, from the
        output and the inputs of `forward`.
        """
        first, width = spans.unbind(1)  # [K] each
        weights = grid.attention[first, width]  # [K, W]
        words = _windows(values, self.max_width)[first]  # [K, W, V]
        heads = torch.bmm(weights[:, None], words)[:, 0]  # [K, V]
        ends = [encoded[first], encoded[first + width]]  # [K, D] each
        return torch.cat(ends + [grid.widths[first, width], heads], 1)

    def _attention(self, encoded: Tensor) -> Tensor:
        """
        For each span the softmax over its words' scores: [N, W, W], zero after its end.
        """
        width = self.max_width
        scores = _windows(self.attention(encoded), width)[:, None, :, 0]  # [N, 1, W]
        within = torch.ones(width, width, dtype=torch.bool, device=encoded.device)
        within = within.tril()  # [W, W]: a span of w + 1 words has words 0 to w
        return scores.masked_fill(~within, -torch.inf).softmax(2)  # [N, W, W]


def span_mask(lengths: Tensor, max_width: int, *, words: int | None = None) -> Tensor:
    """
    The mask [N, W] of spans within a sentence, for sentences of `lengths` [S] words and
    W = `max_width`. Where N is given as `words`, a GPU is not waited for.
    """
    ends = lengths.cumsum(0)  # [S]
    ends = ends.repeat_interleave(lengths, output_size=words)  # [N], of each word
    left = ends - torch.arange(len(ends), device=ends.device)
    return torch.arange(max_width, device=ends.device) < left[:, None]


def _windows(vectors: Tensor, width: int) -> Tensor:
    """
    The vectors [N, V] of words n, n + 1, ... for each n, zero after the last word: [N,
    W, V], a view.
    """
    padded = functional.pad(vectors, (0, 0, 0, width - 1))
    return padded.unfold(0, width, 1).transpose(1, 2)
