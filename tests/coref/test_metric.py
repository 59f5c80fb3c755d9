"""
Coreference scores against their definitions, the official scorer's rules, and by hand.
"""

from collections.abc import Sequence
from itertools import islice, permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.formats.annotation.brackets import reading_order
from elmo_tasks.formats.annotation.ontonotes import read_documents
from elmo_tasks.tasks.coref.metric import METRICS, CorefScores, document_counts
from elmo_tasks.tasks.coref.reader import document_clusters
from elmo_tasks.training.distributed import process_rank
from tests.coref import scorer
from tests.coref.samples import Clusters, can_be_written, column, random_clusters
from tests.distributed import in_processes
from tests.tiny import REAL_DATA

Fractions = list[tuple[float, float]]


def clusters(text: str) -> Clusters:
    """Clusters such as `ab cde`; each letter is a mention."""
    found = []
    for word in text.split():
        found.append([(ord(letter), ord(letter) + 1) for letter in word])
    return found


def muc_links(these: Clusters, those: Clusters) -> tuple[float, float]:
    """
    The sum of `|cluster| - parts` over `these`, parts by a partition into `those`, and
    of `|cluster| - 1`.
    """
    right = possible = 0
    for cluster in these:
        parts = 0
        for other in those:
            if not set(other).isdisjoint(cluster):
                parts += 1
        alone = set(cluster).difference(*those)
        right += len(cluster) - parts - len(alone)
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
    best = 0.0
    for chosen in permutations(many, len(few)):
        similarity = 0.0
        for a, b in zip(few, chosen, strict=True):
            similarity += 2 * len(set(a) & set(b)) / (len(a) + len(b))
        best = max(best, similarity)
    return best, len(these)


def expected(documents: Sequence[tuple[Clusters, Clusters]]) -> dict[str, float]:
    """The scores of pairs of response and key."""
    scores: dict[str, float] = {}
    for name, definition in zip(METRICS, (muc_links, b_cubed, ceaf_e), strict=True):
        recall = ratio([definition(key, response) for response, key in documents])
        precision = ratio([definition(response, key) for response, key in documents])
        scores[f"{name}_precision"] = precision
        scores[f"{name}_recall"] = recall
        scores[f"{name}_f1"] = ratio([(2 * precision * recall, precision + recall)])
    for part in ("precision", "recall", "f1"):
        scores[part] = sum([scores[f"{name}_{part}"] for name in METRICS]) / 3
    return scores


def ratio(fractions: Fractions) -> float:
    """The sum of the parts by the sum of the wholes; 0 of nothing."""
    right = 0.0
    whole = 0.0
    for part, possible in fractions:
        right += part
        whole += possible
    if whole == 0:
        return 0.0
    return right / whole


def scored(*documents: tuple[Clusters, Clusters]) -> dict[str, float]:
    metric = CorefScores()
    for response, key in documents:
        metric(response, key)
    return metric.get_metric()


@st.composite
def clusterings(draw: st.DrawFn) -> Clusters:
    """Up to nine mentions in up to five clusters, including singletons."""
    homes = draw(st.lists(st.integers(-1, 4), min_size=9, max_size=9))
    found: dict[int, list[tuple[int, int]]] = {}
    for place, home in enumerate(homes):
        if home >= 0:
            found.setdefault(home, []).append((place, place + 1))
    return draw(st.permutations(list(found.values())))


@settings(deadline=None, max_examples=60)
@given(documents=st.lists(st.tuples(clusterings(), clusterings()), max_size=3))
def test_equals_the_definitions(documents: list[tuple[Clusters, Clusters]]) -> None:
    assert scored(*documents) == pytest.approx(expected(documents), abs=1e-12)


def official(response: Clusters, key: Clusters, *, length: int) -> list[list[float]]:
    """
    What the rules of the official scorer give for files with these clusters, as
    `document_counts`.
    """
    return by_scorer(response, column(key, length=length))


def by_scorer(response: Clusters, key_cells: list[str]) -> list[list[float]]:
    """The same for the column of the key."""
    # The order of clusters that begin with the same mention is that of their numbers.
    brackets = column(sorted(response, key=places), length=len(key_cells))
    rows = []
    for recall, precision in scorer.score(brackets, key_cells):
        rows.append([recall.part, recall.whole, precision.part, precision.whole])
    return rows


def places(cluster: list[tuple[int, int]]) -> list[tuple[int, bool, int]]:
    return sorted(map(reading_order, cluster))


def shuffled(generator: Random, found: Clusters) -> Clusters:
    clusters_again = [generator.sample(cluster, len(cluster)) for cluster in found]
    return generator.sample(clusters_again, len(found))


@pytest.mark.parametrize("length", [3, 6, 12, 40])
def test_equals_the_official_scorer(length: int) -> None:
    generator = Random(length)
    for _ in range(1000):
        key = random_clusters(generator, length=length)
        response = random_clusters(generator, length=length)
        wanted = official(response, key, length=length)
        found = document_counts(shuffled(generator, response), key)
        assert found == pytest.approx(np.array(wanted), abs=1e-9), (response, key)


@pytest.mark.parametrize(("split", "every"), [("dev", 1), ("train", 8)])
def test_equals_the_official_scorer_on_real_documents(split: str, every: int) -> None:
    file = REAL_DATA / "coref" / f"{split}.gold_conll"
    if not file.exists():
        pytest.skip(f"there is no {file}")
    generator = Random(1)
    for document in islice(read_documents(file), 0, None, every):
        cells: list[str] = []
        for sentence in document.sentences:
            cells.extend(sentence.columns[-1])
        key = document_clusters(document)
        response = [altered(generator, cluster) for cluster in key]
        response += generator.sample(response, 2)
        wanted = by_scorer(response, cells)
        found = document_counts(shuffled(generator, response), key)
        assert found == pytest.approx(np.array(wanted), abs=1e-9), document.key


def altered(generator: Random, cluster: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """
    A cluster without some of its mentions, with another one that may be wrong, and with
    one repeated.
    """
    kept = [mention for mention in cluster if generator.random() < 0.8] or cluster
    start, end = generator.choice(cluster)
    changed = kept + [(max(0, start - 1), end), generator.choice(kept)]
    if can_be_written(changed):
        return changed
    return kept


def test_processes_count_together() -> None:
    def scores() -> tuple[dict[str, float], int]:
        metric = CorefScores()
        if process_rank() == 0:
            metric(clusters("ab"), clusters("ab"))
        else:
            metric([], clusters("abcd"))
        return metric.get_metric(), metric.documents

    first, second = in_processes(2, scores)
    assert first[0]["muc_recall"] == pytest.approx(1 / 4)
    assert first[1] == 2
    assert first == second
