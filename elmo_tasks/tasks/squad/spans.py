"""The best answer spans with a maximum length, exact and batched (paper, appendix A.4)."""

from typing import NamedTuple

import torch
from torch import Tensor


class Spans(NamedTuple):
    """The N best spans of each of B passages, best first."""

    starts: Tensor  # [B, N], the first token of each span
    ends: Tensor  # [B, N], the last token, inclusive
    scores: Tensor  # [B, N], the sum of both logits; -inf if a passage has fewer than N spans
    probabilities: Tensor  # [B, N], the softmax over the scores of all spans within the limit


def best_spans(start_logits: Tensor, end_logits: Tensor, mask: Tensor, *, max_length: int, count: int = 1) -> Spans:
    """
    The `count` best spans of at most `max_length` tokens, from start and end logits [B, T] and the mask [B, T] of
    tokens, which padding follows.
    """
    length = start_logits.shape[1]
    ends = end_logits.masked_fill(~mask, -torch.inf)  # [B, T]
    beyond = ends.new_full((len(ends), max_length - 1), -torch.inf)
    reach = torch.cat([ends, beyond], 1).unfold(1, max_length, 1)  # [B, T, W], W the width less 1
    scores = (start_logits[:, :, None] + reach).flatten(1)  # [B, T * W]
    top, places = scores.topk(min(count, length * max_length), dim=1)  # [B, N]
    first, width = places // max_length, places % max_length
    return Spans(first, first + width, top, (top - scores.logsumexp(1, keepdim=True)).exp())
