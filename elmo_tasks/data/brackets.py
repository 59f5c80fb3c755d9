"""Spans in the columns of CoNLL-2012: `(ARG0*`, `*)` and `(DATE)`; for coreference `(12`, `12)` and `(12)|(3`."""

import re
from collections.abc import Iterable, Iterator, Sequence

from elmo_tasks.data.spans import Span

NOTHING = frozenset({"*", "-"})
"""What stands where no span begins or ends."""

_CELL = re.compile(r"((?:\([^()*]+)*)\*?(\)*)")
_MENTION = re.compile(r"(\(?)([^()|]+)(\)?)")


class BracketError(ValueError):
    """
    Brackets that make no spans.

    # Parameters

    problem : `str`
    token : `int`
        The token at which they fail.
    """

    def __init__(self, problem: str, token: int) -> None:
        super().__init__(problem)
        self.token = token


def spans_from_brackets(cells: Sequence[str]) -> tuple[Span, ...]:
    """
    The spans of a column of arguments or names, nested ones too, by their start, the longer ones first.

    # Raises

    `BracketError`
        If a cell cannot be read, or a bracket is not closed or not open.
    """
    spans: list[Span] = []
    stack: list[tuple[int, str]] = []
    for token, cell in enumerate(cells):
        if cell in NOTHING:
            continue
        labels, closing = _parts(cell, token)
        stack.extend((token, label) for label in labels)
        for _ in range(closing):
            spans.append(_closed(stack, cell, token))
    _check_all_closed(stack)
    return _in_order(spans)


def mentions_from_brackets(cells: Sequence[str]) -> tuple[Span, ...]:
    """
    The spans of a column of coreference, which may cross; the label is the number of the cluster. A bracket closes the
    one of its cluster that was opened last.

    # Raises

    `BracketError`
        As for `spans_from_brackets`.
    """
    spans: list[Span] = []
    stacks: dict[str, list[tuple[int, str]]] = {}
    for token, cell in enumerate(cells):
        if cell in NOTHING:
            continue
        for opening, cluster, closing in _mention_parts(cell, token):
            stack = stacks.setdefault(cluster, [])
            if opening:
                stack.append((token, cluster))
            if closing:
                spans.append(_closed(stack, cell, token))
    for stack in stacks.values():
        _check_all_closed(stack)
    return _in_order(spans)


def brackets_from_spans(spans: Iterable[Span], *, length: int) -> list[str]:
    """The column of `length` cells for spans that do not overlap."""
    cells = ["*"] * length
    for start, end, label in spans:
        cells[start] = f"({label}*"
        cells[end - 1] += ")"
    return cells


def _parts(cell: str, token: int) -> tuple[list[str], int]:
    """The labels that a cell opens, and how many brackets it closes."""
    match = _CELL.fullmatch(cell)
    if match is None:
        raise BracketError(f"brackets such as '(ARG0*', '*' or '*)' were wanted, found {cell!r:.60}", token)
    return match[1].split("(")[1:], len(match[2])


def _mention_parts(cell: str, token: int) -> Iterator[tuple[str, str, str]]:
    for part in cell.split("|"):
        match = _MENTION.fullmatch(part)
        if match is None or not (match[1] or match[3]):
            raise BracketError(f"brackets such as '(12', '12)' or '(12)|(3' were wanted, found {cell!r:.60}", token)
        yield match[1], match[2], match[3]


def _closed(stack: list[tuple[int, str]], cell: str, token: int) -> Span:
    if not stack:
        raise BracketError(f"{cell!r:.60} closes a bracket that was not opened", token)
    start, label = stack.pop()
    return Span(start, token + 1, label)


def _check_all_closed(stack: list[tuple[int, str]]) -> None:
    if stack:
        start, label = stack[-1]
        raise BracketError(f"the bracket {'(' + label!r:.60} is not closed in its sentence", start)


def _in_order(spans: list[Span]) -> tuple[Span, ...]:
    return tuple(sorted(spans, key=lambda span: (span.start, -span.end, span.label)))
