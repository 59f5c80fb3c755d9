"""Spans in the columns of CoNLL-2012: `(ARG0*`, `*)` and `(DATE)`; mentions of coreference, `(12`, `12)`, `(12)|(3`."""

import re
from collections.abc import Iterable, Sequence

from elmo_tasks.formats.spans import Span

Mention = tuple[int, int]
"""Words `start` to `end` of a document, exclusive, counted from 0."""

Cluster = list[Mention]
"""Mentions of one entity, in the order of the text."""

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
    The spans of a column of arguments or names, sorted by start, longer ones first. They may be nested. Raises
    `BracketError` if a cell is invalid or brackets are not balanced.
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
        stack.extend((token, label) for label in match[1].split("(")[1:])
        spans.extend(_close(stack, cell, token) for _ in match[2])
    return _sorted(spans, stack)


def mentions_from_brackets(cells: Sequence[str]) -> tuple[Span, ...]:
    """
    The spans of a column of coreference, sorted as in `spans_from_brackets`; labels are cluster numbers. Spans may
    cross. A bracket closes the cluster's most recently opened one. Raises `BracketError` as in `spans_from_brackets`.
    """
    spans: list[Span] = []
    stacks: dict[str, list[tuple[int, str]]] = {}
    for token, cell in enumerate(cells):
        for part in () if cell in EMPTY else cell.split("|"):
            match = _MENTION.fullmatch(part)
            if match is None or not (match["open"] or match["close"]):
                raise BracketError(
                    f"expected brackets such as '(12', '12)' or '(12)|(3', got {cell!r:.60}",
                    token,
                )
            stack = stacks.setdefault(match["label"], [])
            if match["open"]:
                stack.append((token, match["label"]))
            if match["close"]:
                spans.append(_close(stack, cell, token))
    return _sorted(spans, [opened for stack in stacks.values() for opened in stack])


def brackets_from_spans(spans: Iterable[Span], *, length: int) -> list[str]:
    """The column of `length` cells for spans that do not overlap."""
    cells = ["*"] * length
    for start, end, label in spans:
        cells[start] = f"({label}*"
        cells[end - 1] += ")"
    return cells


def cluster_cells(clusters: Iterable[Cluster], *, length: int) -> list[str]:
    """
    The column of brackets for `length` words; clusters are numbered in order. Duplicate mentions in a cluster are
    written once. Raises `ValueError` if a mention is empty or outside the document.
    """
    opening: list[list[str]] = [[] for _ in range(length)]
    closing: list[list[str]] = [[] for _ in range(length)]
    labelled = [
        (start, end, label)
        for label, cluster in enumerate(clusters)
        for start, end in dict.fromkeys(cluster)
    ]
    for start, end, label in sorted(labelled, key=lambda one: (one[0], -one[1])):
        if not 0 <= start < end <= length:
            raise ValueError(
                f"expected mentions in a document of {length} words, got {start} to {end}"
            )
        if end - start == 1:
            opening[start].append(f"({label})")
        else:
            opening[start].append(f"({label}")
            closing[end - 1].insert(0, f"{label})")
    return [
        "|".join(begun + ended) or "-"
        for begun, ended in zip(opening, closing, strict=True)
    ]


def _close(stack: list[tuple[int, str]], cell: str, token: int) -> Span:
    if not stack:
        raise BracketError(f"{cell!r:.60} closes a bracket that was not opened", token)
    start, label = stack.pop()
    return Span(start, token + 1, label)


def _sorted(spans: list[Span], unclosed: list[tuple[int, str]]) -> tuple[Span, ...]:
    if unclosed:
        start, label = unclosed[-1]
        raise BracketError(
            f"the bracket {'(' + label!r:.60} is not closed in its sentence", start
        )
    return tuple(sorted(spans, key=lambda span: (span.start, -span.end, span.label)))
