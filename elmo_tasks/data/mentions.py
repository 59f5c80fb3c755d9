"""Mentions and clusters of coreference, and the column in which CoNLL-2012 spells them."""

from collections.abc import Iterable

Mention = tuple[int, int]
"""Words `start` to `end` of a document, the end not included; both counted from 0 at its first word."""

Cluster = list[Mention]
"""Mentions of one entity, in the order of the text."""

_NOTHING = "-"


def cluster_cells(clusters: Iterable[Cluster], *, length: int) -> list[str]:
    """
    The column of brackets over `length` words, `-` where there is none; clusters are numbered in their order.

    A mention that its cluster has twice is written once. Brackets cannot tell which mentions of one cluster cross;
    those of different clusters may.

    # Raises

    `ValueError`
        If a mention is empty or leaves the document.
    """
    opening: list[list[str]] = [[] for _ in range(length)]
    closing: list[list[str]] = [[] for _ in range(length)]
    labelled = [(start, end, label) for label, cluster in enumerate(clusters) for start, end in dict.fromkeys(cluster)]
    for start, end, label in sorted(labelled, key=lambda one: (one[0], -one[1])):
        if not 0 <= start < end <= length:
            raise ValueError(f"no words {start} to {end} in a document of {length}")
        if end - start == 1:
            opening[start].append(f"({label})")
        else:
            opening[start].append(f"({label}")
            closing[end - 1].insert(0, f"{label})")
    return ["|".join(begun + ended) or _NOTHING for begun, ended in zip(opening, closing, strict=True)]
