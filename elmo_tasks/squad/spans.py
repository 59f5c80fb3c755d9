"""The best answer spans under a limit on their length: exact, for a whole batch at once (paper, appendix A.4)."""

from typing import NamedTuple

import torch
from torch import Tensor


class Spans(NamedTuple):
    """
    The N best spans of each of B passages, the best first.

    # Parameters

    starts, ends : `Tensor`, shape [B, N]
        First and last token of each span, counted from 0; the last one belongs to it.
    scores : `Tensor`, shape [B, N]
        The sum of both logits; -inf where a passage has fewer than N spans.
    probabilities : `Tensor`, shape [B, N]
        The span's share of all spans within the limit, `exp(score)` weighing each; 0 where there is none.
    """

    starts: Tensor
    ends: Tensor
    scores: Tensor
    probabilities: Tensor


def best_spans(start_logits: Tensor, end_logits: Tensor, mask: Tensor, *, max_length: int, count: int = 1) -> Spans:
    """
    # Parameters

    start_logits, end_logits : `Tensor`, shape [B, T]
    mask : `Tensor`, bool, shape [B, T]
        True for tokens, which fill each row from the left: a span that ends in one starts in one.
    max_length : `int`
        Tokens of the longest span.
    count : `int`
        Spans wanted for each passage (N).
    """
    length = start_logits.shape[1]
    ends = end_logits.masked_fill(~mask, -torch.inf)  # [B, T]
    beyond = ends.new_full((len(ends), max_length - 1), -torch.inf)
    reach = torch.cat([ends, beyond], 1).unfold(1, max_length, 1)  # [B, T, W], W the width less 1
    scores = (start_logits[:, :, None] + reach).flatten(1)  # [B, T * W]
    top, places = scores.topk(min(count, length * max_length), dim=1)  # [B, N]
    first, width = places // max_length, places % max_length
    return Spans(first, first + width, top, (top - scores.logsumexp(1, keepdim=True)).exp())
