"""Candidate spans -> the best ones that do not cross each other (Lee et al., 2017, section 5)."""

import torch
from torch import Tensor


def prune_crossing_spans(scores: Tensor, mask: Tensor, *, limit: int) -> Tensor:
    """
    Takes spans in the order of their scores, skips those that cross a span already taken, and stops at `limit`. Two
    spans cross if they overlap and neither contains the other.

    Scores and mask [N, W] are of the spans of words n to n + w, inclusive; valid spans lie within a sentence, and ties
    are broken by position. Returns [K, 2]: n and w of the spans taken, in the order of the text.
    """
    count, widths = scores.shape
    order = torch.where(mask, scores.detach(), -torch.inf).flatten().argsort(descending=True, stable=True)
    last_end = [-1] * (count + widths)  # of the spans taken that start at each word
    first_start = [count] * (count + widths)  # of the spans taken that end at each word
    taken: list[tuple[int, int]] = []
    for place in order[mask.flatten()[order]].tolist():
        start, width = divmod(place, widths)
        end = start + width
        if max(last_end[start + 1 : end + 1], default=-1) > end or min(first_start[start:end], default=count) < start:
            continue
        taken.append((start, width))
        last_end[start], first_start[end] = max(end, last_end[start]), min(start, first_start[end])
        if len(taken) == limit:
            break
    return torch.tensor(sorted(taken), dtype=torch.long, device=scores.device).view(-1, 2)
