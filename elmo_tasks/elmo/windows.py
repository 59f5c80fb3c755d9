"""Split long sentences into overlapping windows."""

from typing import NamedTuple


class Window(NamedTuple):
    """The tokens `start` to `end` are encoded together; vectors of `first` to `last` are taken from this window."""

    start: int
    end: int
    first: int
    last: int


def windows(length: int, *, limit: int, overlap: int) -> list[Window]:
    """
    Split a sentence of `length` tokens into windows of `limit` tokens; an empty sentence has none.

    Neighbours share `overlap` tokens; the last two may share more, since the last window ends with the sentence. A
    token is taken from the window in which it has most context, not counting the ends of the sentence.
    """
    if length <= limit:
        return [Window(0, length, 0, length)] if length else []
    starts = [*range(0, length - limit, limit - overlap), length - limit]
    middles = [
        (one + limit + other + 1) // 2
        for one, other in zip(starts, starts[1:], strict=False)
    ]
    bounds = zip(starts, [0, *middles], [*middles, length], strict=True)
    return [Window(start, start + limit, first, last) for start, first, last in bounds]
