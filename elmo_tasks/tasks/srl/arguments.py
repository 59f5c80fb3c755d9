"""Arguments of a proposition, with the continuation rule of srl-eval.pl."""

from collections.abc import Sequence
from typing import NamedTuple

from elmo_tasks.formats.spans import spans_from_tags

CONTINUATION = "C-"
VERB = "V"
"""The label of the predicate."""


class Argument(NamedTuple):
    """An argument of a proposition, of one or more spans."""

    label: str  # without C-
    spans: tuple[tuple[int, int], ...]  # start and end of each, in order


def arguments_from_tags(tags: Sequence[str]) -> list[Argument]:
    """
    The arguments of a sequence of BIO tags; an I that continues nothing begins a span.

    Each span `C-X` joins the last argument X before it, or starts an argument X if there is none. Adjacent spans stay
    separate: such an argument differs from one that covers the same words in one span. `R-X` is an ordinary label.

    Raises `ValueError` if a tag is invalid.
    """
    arguments: list[tuple[str, list[tuple[int, int]]]] = []
    for start, end, label in spans_from_tags(tags):
        plain = label.removeprefix(CONTINUATION)
        spans = None
        if label != plain:
            spans = next((spans for name, spans in reversed(arguments) if name == plain), None)
        if spans is None:
            arguments.append((plain, [(start, end)]))
        else:
            spans.append((start, end))
    return [Argument(label, tuple(spans)) for label, spans in arguments]
