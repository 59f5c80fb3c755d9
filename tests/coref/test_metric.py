"""Coreference scores against their definitions, and by hand."""

from collections.abc import Sequence
from itertools import permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.tasks.coref.metric import METRICS, CorefScores

Clusters = list[list[tuple[int, int]]]
Fractions = list[tuple[float, float]]


def clusters(text: str) -> Clusters:
    """Clusters such as `ab cde`; each letter is a mention."""
    return [
        [(ord(letter), ord(letter) + 1) for letter in word] for word in text.split()
    ]


def muc_links(these: Clusters, those: Clusters) -> tuple[float, float]:
    """The sum of `|cluster| - parts` over `these`, parts by a partition into `those`, and of `|cluster| - 1`."""
    right = possible = 0
    for cluster in these:
        parts = {
            place
            for place, other in enumerate(those)
            for mention in cluster
            if mention in other
        }
        alone = [
            mention
            for mention in cluster
            if not any(mention in other for other in those)
        ]
        right += len(cluster) - len(parts) - len(alone)
        possible += len(cluster) - 1
    return right, possible


def b_cubed(these: Clusters, those: Clusters) -> tuple[float, float]:
    total, count = 0.0, 0
    for cluster in these:
        for mention in cluster:
            for other in those:
                if mention in other:
                    total += len(set(cluster) & set(other)) / len(cluster)
            count += 1
    return total, count


def ceaf_e(these: Clusters, those: Clusters) -> tuple[float, float]:
    """The best of all alignments."""
    few, many = sorted((these, those), key=len)
    best = max(
        sum(
            2 * len(set(a) & set(b)) / (len(a) + len(b))
            for a, b in zip(few, chosen, strict=True)
        )
        for chosen in permutations(many, len(few))
    )
    return best, len(these)


def expected(documents: Sequence[tuple[Clusters, Clusters]]) -> dict[str, float]:
    """The scores of pairs of response and key."""
    scores: dict[str, float] = {}
    for name, definition in zip(METRICS, (muc_links, b_cubed, ceaf_e), strict=True):
        recall = ratio([definition(key, response) for response, key in documents])
        precision = ratio([definition(response, key) for response, key in documents])
        f1 = (
            2 * precision * recall / (precision + recall) if precision + recall else 0.0
        )
        scores |= {
            f"{name}_precision": precision,
            f"{name}_recall": recall,
            f"{name}_f1": f1,
        }
    means = {
        part: sum(scores[f"{name}_{part}"] for name in METRICS) / 3
        for part in ("precision", "recall", "f1")
    }
    return scores | means


def ratio(fractions: Fractions) -> float:
    whole = sum(possible for _, possible in fractions)
    return sum(right for right, _ in fractions) / whole if whole else 0.0


def scored(*documents: tuple[Clusters, Clusters]) -> dict[str, float]:
    metric = CorefScores()
    for response, key in documents:
        metric(response, key)
    return metric.get_metric()


@st.composite
def clusterings(draw: st.DrawFn) -> Clusters:
    """Up to nine mentions in up to five clusters, including singletons."""
    homes = draw(st.lists(st.integers(-1, 4), min_size=9, max_size=9))
    found = [
        [(place, place + 1) for place, home in enumerate(homes) if home == label]
        for label in range(5)
    ]
    return draw(st.permutations([cluster for cluster in found if cluster]))


@settings(deadline=None, max_examples=60)
@given(documents=st.lists(st.tuples(clusterings(), clusterings()), max_size=3))
def test_equals_the_definitions(documents: list[tuple[Clusters, Clusters]]) -> None:
    assert scored(*documents) == pytest.approx(expected(documents), abs=1e-12)


def test_repeated_mentions() -> None:
    clean = scored((clusters("ab cd"), clusters("abcd")))
    assert scored((clusters("aab acd"), clusters("abcd"))) == clean, (
        "the first mention counts"
    )
    assert scored((clusters("ab cd"), clusters("aabcd a"))) == clean
    assert scored((clusters("ab xx"), clusters("ab")))[
        "b_cubed_precision"
    ] == pytest.approx(2 / 4)
    assert scored((clusters("ab xx"), clusters("ab")))[
        "muc_precision"
    ] == pytest.approx(1 / 2)


def test_processes_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    other = CorefScores()
    other([], clusters("abcd"))
    values = iter([torch.from_numpy(other._counts), 1])
    monkeypatch.setattr(
        "elmo_tasks.tasks.coref.metric.dist_reduce_sum", lambda own: own + next(values)
    )
    metric = CorefScores()
    metric(clusters("ab"), clusters("ab"))
    assert (
        metric.get_metric()["muc_recall"] == pytest.approx(1 / 4)
        and metric.documents == 2
    )
