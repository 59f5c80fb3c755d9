"""Random clusters, and their column in a file."""

from random import Random

Clusters = list[list[tuple[int, int]]]


def column(found: Clusters, *, length: int) -> list[str]:
    """
    A file's column of brackets; clusters are numbered in order, and at a word longer
    mentions open first.
    """
    cells: list[list[str]] = [[] for _ in range(length)]
    mentions = []
    for number, cluster in enumerate(found):
        for start, end in cluster:
            mentions.append((start, -end, number))
    for start, negative_end, number in sorted(mentions):
        end = -negative_end
        if end == start + 1:
            cells[start].append(f"({number})")
        else:
            cells[start].append(f"({number}")
            cells[end - 1].append(f"{number})")
    return ["|".join(cell) or "-" for cell in cells]


def can_be_written(cluster: list[tuple[int, int]]) -> bool:
    """
    Brackets of one number close the last one that is open, so that its mentions cannot
    cross.
    """
    for start, end in cluster:
        for other_start, other_end in cluster:
            if start < other_start < end < other_end:
                return False
    return True


def random_clusters(generator: Random, *, length: int) -> Clusters:
    """
    Up to five clusters of up to five mentions, of which many occur twice in documents
    of a few words.
    """
    spans = []
    for start in range(length):
        for end in range(start + 1, min(length, start + 3) + 1):
            spans.append((start, end))
    found = []
    for _ in range(generator.randint(0, 5)):
        cluster = generator.choices(spans, k=generator.randint(1, 5))
        if can_be_written(cluster):
            found.append(cluster)
    return found
