"""BIO tags of one proposition -> its arguments, as srl-eval.pl sees them: pieces of one label make one argument."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from elmo_tasks.data.spans import Span, spans_from_tags

CONTINUATION = "C-"
VERB = "V"
"""The label of the predicate itself."""


class Argument(NamedTuple):
    """
    # Parameters

    label : `str`
        Without any `C-`.
    pieces : `tuple[tuple[int, int], ...]`
        Start and end of each piece, in order; most arguments have one.
    """

    label: str
    pieces: tuple[tuple[int, int], ...]


def arguments_from_tags(tags: Sequence[str]) -> list[Argument]:
    """
    The arguments that BIO tags spell; an I that continues nothing begins a span.

    # Raises

    `ValueError`
        If a tag cannot be.
    """
    return merge_continuations(spans_from_tags(tags))


def merge_continuations(spans: Iterable[Span]) -> list[Argument]:
    """
    Joins each span `C-X` to the last argument X before it. Where there is none, it becomes an argument X of its own, to
    which later ones join. `R-X` is a label like others. Pieces that touch stay apart: such an argument is not the same
    as the one that covers them in one piece.
    """
    merged: list[tuple[str, list[tuple[int, int]]]] = []
    for start, end, label in spans:
        plain = label.removeprefix(CONTINUATION)
        head = None
        if label != plain:
            head = next((pieces for of, pieces in reversed(merged) if of == plain), None)
        if head is None:
            merged.append((plain, [(start, end)]))
        else:
            head.append((start, end))
    return [Argument(label, tuple(pieces)) for label, pieces in merged]
