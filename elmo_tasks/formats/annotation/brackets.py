"""
Spans in the columns of CoNLL-2012: `(ARG0*`, `*)` and `(DATE)`; mentions of
coreference, `(12`, `12)`, `(12)|(3`.
"""

import re
from collections.abc import Iterable, Sequence

from elmo_tasks.formats.annotation.spans import Span

Mention = tuple[int, int]
"""Words `start` to `end` of a document, exclusive, counted from 0."""

Cluster = list[Mention]
"""Mentions of one entity, in the order of the text."""


def reading_order(mention: Mention) -> tuple[int, bool, int]:
    """
    A sort key for mentions in the order in which the scorer of CoNLL-2012 reads them
    from a column of brackets: by first word; at the same word, mentions of one word
    first, then the longest first.
    """
    start, end = mention
    return start, end - start > 1, -end


EMPTY = frozenset({"*", "-"})  # cells where no span begins or ends

_CELL = re.compile(r"((?:\([^()*]+)*)\*?(\)*)")
_MENTION = re.compile(r"(?P<open>\()?(?P<label>[^()|]+)(?P<close>\))?")


class BracketError(ValueError):
    """Invalid or unbalanced brackets, at the word of index `token`."""

    def __init__(self, problem: str, token: int) -> None:
        super().__init__(problem)
        self.token = token


def spans_from_brackets(cells: Sequence[str]) -> tuple[Span, ...]:
    """
    The spans of a column of arguments or names, sorted by start, longer ones first.
    They may be nested. Raises `BracketError` if a cell is invalid or brackets are not
    balanced.
    """
    spans: list[Span] = []
    stack: list[tuple[int, str]] = []
    for token, cell in enumerate(cells):
        if cell in EMPTY:
            continue
        match = _CELL.fullmatch(cell)
        if match is None:
            raise BracketError(
                f"expected brackets such as '(ARG0*', '*' or '*)', got {cell!r:.60}",
                token,
            )
        opening, closing = match.groups()
        for label in opening.split("(")[1:]:
            stack.append((token, label))
        for _ in closing:
            spans.append(_close(stack, cell, token))
    if stack:
        start, label = stack[-1]
        raise _not_closed(label, start, "sentence")
    spans.sort(key=lambda span: (span.start, -span.end, span.label))
    return tuple(spans)


def mentions_from_brackets(cells: Sequence[str]) -> tuple[Span, ...]:
    """
    The spans of a document's column of coreference, sorted by start, longer ones first;
    equal ones in the order in which they open. Labels are cluster numbers. Spans may
    cross each other and the ends of sentences. A bracket closes the cluster's most
    recently opened one. Raises `BracketError` as in `spans_from_brackets`.
    """
    spans: list[tuple[int, Span]] = []  # with the number of the opening bracket
    stacks: dict[str, list[tuple[int, int]]] = {}  # number and word of open brackets
    opened = 0
    for token, cell in enumerate(cells):
        if cell in EMPTY:
            continue
        for part in cell.split("|"):
            match = _MENTION.fullmatch(part)
            if match is None or not (match["open"] or match["close"]):
                raise BracketError(
                    f"expected brackets such as '(12', '12)' or '(12)|(3', got {cell!r:.60}",
                    token,
                )
            label = match["label"]
            stack = stacks.setdefault(label, [])
            if match["open"]:
                stack.append((opened, token))
                opened += 1
            if match["close"]:
                if not stack:
                    raise _not_opened(cell, token)
                number, start = stack.pop()
                spans.append((number, Span(start, token + 1, label)))
    for label, stack in stacks.items():
        if stack:
            raise _not_closed(label, stack[-1][1], "document")
    spans.sort(key=lambda numbered: (numbered[1].start, -numbered[1].end, numbered[0]))
    return tuple([span for _, span in spans])


def brackets_from_spans(spans: Iterable[Span], *, length: int) -> list[str]:
    """The column of `length` cells for spans that do not overlap."""
    cells = ["*"] * length
    for start, end, label in spans:
        cells[start] = f"({label}*"
        cells[end - 1] += ")"
    return cells


def cluster_cells(clusters: Iterable[Cluster], *, length: int) -> list[str]:
    """
    The column of brackets for `length` words; clusters are numbered in order. Repeated
    mentions are written as often as they occur. Raises `ValueError` if a mention is
    empty or outside the document.
    """
    opening: list[list[str]] = [[] for _ in range(length)]
    closing: list[list[str]] = [[] for _ in range(length)]
    labelled = []
    for label, cluster in enumerate(clusters):
        for start, end in cluster:
            labelled.append((start, -end, label))
    for start, minus_end, label in sorted(labelled):
        end = -minus_end
        if not 0 <= start < end <= length:
            raise ValueError(
                f"expected mentions in a document of {length} words, got {start} to {end}"
            )
        if end - start == 1:
            opening[start].append(f"({label})")
        else:
            opening[start].append(f"({label}")
            closing[end - 1].insert(0, f"{label})")
    pairs = zip(opening, closing, strict=True)
    return ["|".join(begun + ended) or "-" for begun, ended in pairs]


def _close(stack: list[tuple[int, str]], cell: str, token: int) -> Span:
    if not stack:
        raise _not_opened(cell, token)
    start, label = stack.pop()
    return Span(start, token + 1, label)


def _not_opened(cell: str, token: int) -> BracketError:
    return BracketError(f"{cell!r:.60} closes a bracket that was not opened", token)


def _not_closed(label: str, token: int, where: str) -> BracketError:
    bracket = f"({label}"
    return BracketError(
        f"the bracket {bracket!r:.60} is not closed in its {where}", token
    )
