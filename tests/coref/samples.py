"""Random clusters, and their column in a file."""

from random import Random

Clusters = list[list[tuple[int, int]]]


def column(found: Clusters, *, length: int) -> list[str]:
    """A file's column of brackets; clusters are numbered in order, and at a word longer mentions open first."""
    cells: list[list[str]] = [[] for _ in range(length)]
    for start, end, number in sorted(
        [
            (start, end, number)
            for number, cluster in enumerate(found)
            for start, end in cluster
        ],
        key=lambda one: (one[0], -one[1]),
    ):
        cells[start].append(f"({number})" if end == start + 1 else f"({number}")
        if end > start + 1:
            cells[end - 1].append(f"{number})")
    return ["|".join(cell) or "-" for cell in cells]


def can_be_written(cluster: list[tuple[int, int]]) -> bool:
    """Brackets of one number close the last one that is open, so that its mentions cannot cross."""
    return not any(
        one[0] < other[0] < one[1] < other[1] for one in cluster for other in cluster
    )


def random_clusters(generator: Random, *, length: int) -> Clusters:
    """Up to five clusters of up to five mentions, of which many occur twice in documents of a few words."""
    spans = [
        (start, end)
        for start in range(length)
        for end in range(start + 1, min(length, start + 3) + 1)
    ]
    found = [
        generator.choices(spans, k=generator.randint(1, 5))
        for _ in range(generator.randint(0, 5))
    ]
    return [cluster for cluster in found if can_be_written(cluster)]
