"""Split long sentences into overlapping windows."""

from itertools import pairwise
from typing import NamedTuple


class Window(NamedTuple):
    """
    The tokens `start` to `end` of a sentence, which are encoded together. The vectors
    of `first` to `last` are taken from this window. `end` and `last` are not included.
    """

    start: int
    end: int
    first: int
    last: int


def windows(length: int, *, limit: int, overlap: int) -> list[Window]:
    """
    Split a sentence of `length` tokens into windows of `limit` tokens. A sentence that
    fits has one window, an empty sentence has none.

    Neighbours share `overlap` tokens; the last two may share more, since the last
    window ends with the sentence. Each takes its half of what they share: a token's
    vector is from the window in which it has most context, not counting the ends of the
    sentence.
    """
    if length == 0:
        return []
    if length <= limit:
        return [Window(0, length, 0, length)]
    last_start = length - limit
    starts = list(range(0, last_start, limit - overlap))
    starts.append(last_start)
    parts = []
    first = 0
    for start, next_start in pairwise(starts):
        end = start + limit
        middle = (next_start + end + 1) // 2
        parts.append(Window(start, end, first, middle))
        first = middle
    parts.append(Window(last_start, length, first, length))
    return parts
