"""A long sentence -> overlapping windows, each short enough for one pass, and which tokens are taken from which."""

from typing import NamedTuple

from elmo_tasks.errors import InputError


class Window(NamedTuple):
    """
    # Parameters

    start, end : `int`
        The tokens that are read together, `end` not included.
    first, last : `int`
        The tokens whose vectors are taken from here, `last` not included; never outside `start` and `end`.
    """

    start: int
    end: int
    first: int
    last: int


_LONGEST = 2**31 - 1
"""Tokens of a window: more than any sentence has, and a number that HDF5 can store."""


def require_window(limit: int, overlap: int) -> None:
    """
    # Raises

    `InputError` where windows of `limit` tokens cannot overlap by `overlap`.
    """
    if not 1 <= limit <= _LONGEST:
        raise InputError(f"max_length must be from 1 to {_LONGEST}, got {limit}")
    if not 0 <= overlap <= limit // 2:
        raise InputError(f"overlap must be from 0 to half of max_length, {limit // 2}, found {overlap}")


def windows(length: int, *, limit: int, overlap: int) -> list[Window]:
    """
    A sentence of `length` tokens as windows of `limit`: itself where it is short enough, none where it is empty.

    Neighbours share `overlap` tokens, the last two perhaps more, since the last window ends with the sentence. A
    token is taken from the window where it has most context: where the nearer end of the window is farthest away. An
    end that is the sentence's own does not count.
    """
    if length <= limit:
        return [Window(0, length, 0, length)] if length else []
    starts = [*range(0, length - limit, limit - overlap), length - limit]
    middles = [(one + limit + other + 1) // 2 for one, other in zip(starts, starts[1:], strict=False)]
    bounds = zip(starts, [0, *middles], [*middles, length], strict=True)
    return [Window(start, start + limit, first, last) for start, first, last in bounds]
