"""Candidate spans -> the best ones that do not cross each other (Lee et al., 2017, section 5)."""

import torch
from torch import Tensor
from torch.nn import functional


def prune_crossing_spans(scores: Tensor, mask: Tensor, *, limit: int) -> Tensor:
    """
    Takes spans from the best on, leaves out each that crosses one already taken, and stops at `limit`. Two spans cross
    if each has a word that the other has not, and they share one.

    The outcome is that of a loop over the sorted spans, but found in a few rounds over all of them at once: a span is
    taken as soon as no better one that crosses it is undecided or taken, and refused as soon as one is taken. What
    comes after the limit has no influence on what came before it.

    # Parameters

    scores : `Tensor`, shape [N, W]
        Of the span of words n to n + w, both included; of equal scores the one that comes first is better.
    mask : `Tensor`, bool, shape [N, W]
        Which of them are spans; each lies within a sentence.
    limit : `int`
        How many to take at most.

    # Returns

    `Tensor`, shape [K, 2]: n and w of the spans taken, in the order of the text.
    """
    ranks, last = _ranks(scores, mask)
    undecided, taken = mask.clone(), torch.zeros_like(mask)
    while undecided.any():
        ahead = _best_crossing(torch.where(undecided | taken, ranks, last), last)  # [N, W]
        taken |= undecided & (ranks < ahead)
        refused = _best_crossing(torch.where(taken, ranks, last), last) < last
        undecided &= ~(taken | refused)
    chosen = ranks[taken].sort().values[:limit]
    return torch.isin(ranks, chosen).nonzero()


def _ranks(scores: Tensor, mask: Tensor) -> tuple[Tensor, int]:
    """The place of each span among all, 0 for the best one [N, W]; and a number that is above all places."""
    order = torch.where(mask, scores.detach(), -torch.inf).flatten().argsort(descending=True, stable=True)
    ranks = torch.empty_like(order)
    ranks[order] = torch.arange(len(order), device=order.device)
    return ranks.view_as(scores), len(order)


def _best_crossing(ranks: Tensor, last: int) -> Tensor:
    """The best rank among the spans that cross each span, `last` where none does: [N, W]."""
    by_end = _by_end(ranks, last)
    before = _by_start(_best_on_one_side(by_end.flip(0), last).flip(0), last)
    return torch.minimum(_best_on_one_side(ranks, last), before)


def _best_on_one_side(ranks: Tensor, last: int) -> Tensor:
    """
    Of the spans that start at one of the words n + 1 to n + w and end behind n + w: the best rank [N, W].

    With start n + d, these are the ones of more than w - d words besides the first.
    """
    count, widths = ranks.shape
    longer = ranks.flip(1).cummin(1).values.flip(1)  # [N, W], the best of this width and the wider ones
    longer = functional.pad(longer, (0, 0, 0, widths), value=last)  # [N + W, W]
    best = torch.full_like(ranks, last)
    for d in range(1, widths):
        reached = longer[d : d + count, 1 : widths - d + 1]  # [N, W - d], for w = d, ..., W - 1
        best[:, d:] = torch.minimum(best[:, d:], reached)
    return best


def _by_end(ranks: Tensor, last: int) -> Tensor:
    """[n, w] by first word -> [m, w] by last word m = n + w."""
    padded = functional.pad(ranks, (0, 0, ranks.shape[1], 0), value=last)
    return _sheared(padded, ranks.shape, ranks.shape[1], -1)


def _by_start(ranks: Tensor, last: int) -> Tensor:
    """[m, w] by last word -> [n, w] by first word n = m - w."""
    return _sheared(functional.pad(ranks, (0, 0, 0, ranks.shape[1]), value=last), ranks.shape, 0, 1)


def _sheared(padded: Tensor, shape: torch.Size, offset: int, step: int) -> Tensor:
    """Column w of the result is column w of `padded` from row `offset + step * w` on."""
    count, widths = shape
    return torch.stack([padded[offset + step * w :][:count, w] for w in range(widths)], 1)
