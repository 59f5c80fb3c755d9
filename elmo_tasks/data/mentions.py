"""Mentions and clusters of coreference, and their column in CoNLL-2012."""

from collections.abc import Iterable

Mention = tuple[int, int]
"""Words `start` to `end` of a document, exclusive, counted from 0."""

Cluster = list[Mention]
"""Mentions of one entity, in the order of the text."""


def cluster_cells(clusters: Iterable[Cluster], *, length: int) -> list[str]:
    """
    The column of brackets for `length` words; clusters are numbered in order. Duplicate mentions in a cluster are
    written once. Raises `ValueError` if a mention is empty or outside the document.
    """
    opening: list[list[str]] = [[] for _ in range(length)]
    closing: list[list[str]] = [[] for _ in range(length)]
    labelled = [(start, end, label) for label, cluster in enumerate(clusters) for start, end in dict.fromkeys(cluster)]
    for start, end, label in sorted(labelled, key=lambda one: (one[0], -one[1])):
        if not 0 <= start < end <= length:
            raise ValueError(f"expected mentions in a document of {length} words, got {start} to {end}")
        if end - start == 1:
            opening[start].append(f"({label})")
        else:
            opening[start].append(f"({label}")
            closing[end - 1].insert(0, f"{label})")
    return ["|".join(begun + ended) or "-" for begun, ended in zip(opening, closing, strict=True)]
