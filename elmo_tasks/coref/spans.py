"""
Words -> all spans of a few words, their vectors and their mention scores (Lee et al., 2017, sections 3 and 4).

A grid [N, W] holds the span of words n to n + w, both included, of a document of N words; some of it reaches beyond
the sentence and is masked.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.coref.scorer import FactorizedScorer, tf_glorot_init_


class SpanGrid(NamedTuple):
    """
    # Parameters

    mask : `Tensor`, bool, shape [N, W]
        Which of them are spans: those within a sentence.
    scores : `Tensor`, shape [N, W]
        How likely each is a mention; meaningless where there is none.
    attention : `Tensor`, shape [N, W, W]
        The weight of each span's words n, n + 1, ... in its head.
    widths : `Tensor`, shape [N, W, E]
        The vectors of the widths, after dropout.
    """

    mask: Tensor
    scores: Tensor
    attention: Tensor
    widths: Tensor


class SpanScorer(nn.Module):
    """
    The vector of a span is `[h of its first word; h of its last word; its width's; its head]`, where the head is a sum
    of the words' vectors x, weighed by attention. Its mention score is a feed-forward network's.

    No vector is made of a span that is only scored: see `FactorizedScorer`. Memory grows with N W.

    # Parameters

    encoded_size, value_size : `int`
        Widths of h (D) and of x (V).
    max_width : `int`
        Words of the longest span (W).
    feature_size : `int`
        Width of a width's vector (E).
    hidden_size : `int`
        Units of each hidden layer.
    dropout : `float`
        On the hidden layers and the vectors of widths.
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
        self.attention = nn.Linear(encoded_size, 1, bias=False)  # the softmax would cancel a bias
        self.widths = nn.Embedding(max_width, feature_size)
        self.dropout = nn.Dropout(dropout)
        parts = [encoded_size, encoded_size, feature_size, value_size]
        self.score = FactorizedScorer(parts, hidden_size=hidden_size, dropout=dropout)
        self.output_size = sum(parts)
        tf_glorot_init_(self.attention)
        tf_glorot_init_(self.widths)

    def forward(self, encoded: Tensor, values: Tensor, lengths: Tensor) -> SpanGrid:
        """
        # Parameters

        encoded : `Tensor`, shape [N, D]
            h of all words of the document.
        values : `Tensor`, shape [N, V]
            x of all words.
        lengths : `Tensor`, shape [S]
            Words of each sentence; they add up to N.
        """
        mask = span_mask(lengths, self.max_width)
        attention = self._attention(encoded)
        widths = self.dropout(self.widths.weight.expand(len(encoded), -1, -1))  # [N, W, E]
        first, last, width, head = self.score.weights()
        products = (encoded @ first.t())[:, None]  # [N, 1, F]
        products = products + _windows(encoded @ last.t(), self.max_width)  # [N, W, F]
        products = products + widths @ width.t()
        products = products + torch.bmm(attention, _windows(values @ head.t(), self.max_width))
        return SpanGrid(mask, self.score(products), attention, widths)

    def vectors(self, grid: SpanGrid, encoded: Tensor, values: Tensor, places: Tensor) -> Tensor:
        """
        The vectors of some spans.

        # Parameters

        grid, encoded, values
            What `forward` gave and took.
        places : `Tensor`, shape [K, 2]
            n and w of each.

        # Returns

        `Tensor`, shape [K, `output_size`]
        """
        first, width = places.unbind(1)  # [K] each
        weights = grid.attention[first, width]  # [K, W]
        heads = torch.bmm(weights[:, None], _windows(values, self.max_width)[first])[:, 0]  # [K, V]
        return torch.cat([encoded[first], encoded[first + width], grid.widths[first, width], heads], 1)

    def _attention(self, encoded: Tensor) -> Tensor:
        """For each span the softmax over its words' scores: [N, W, W], zero behind its end."""
        scores = _windows(self.attention(encoded), self.max_width)[:, None, :, 0]  # [N, 1, W]
        within = torch.ones(self.max_width, self.max_width, dtype=torch.bool, device=encoded.device).tril()
        return scores.masked_fill(~within, -torch.inf).softmax(2)  # [N, W, W]


def span_mask(lengths: Tensor, max_width: int) -> Tensor:
    """
    Which spans of words n to n + w lie within a sentence.

    # Parameters

    lengths : `Tensor`, shape [S]
        Words of each sentence.
    max_width : `int`
        Words of the longest span (W).

    # Returns

    `Tensor`, bool, shape [N, W]
    """
    ends = lengths.cumsum(0).repeat_interleave(lengths)  # [N], the word behind the sentence of each word
    left = ends - torch.arange(len(ends), device=ends.device)
    return torch.arange(max_width, device=ends.device) < left[:, None]


def _windows(vectors: Tensor, width: int) -> Tensor:
    """The vectors [N, V] of words n, n + 1, ... for each n, zero behind the last word: [N, W, V], a view."""
    return functional.pad(vectors, (0, 0, 0, width - 1)).unfold(0, width, 1).transpose(1, 2)
