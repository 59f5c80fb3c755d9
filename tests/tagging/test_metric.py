"""Entity scores against the rules of conlleval, seqeval, and counts by hand."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.formats.annotation.spans import join_tag
from elmo_tasks.tasks.tagging.metric import EntityF1
from elmo_tasks.training.distributed import process_rank
from tests.distributed import in_processes

Corpus = list[list[tuple[str, str]]]
"""A predicted and a gold tag for each word of each sentence."""

ENDS = {"BB", "BS", "BO", "IB", "IS", "IO"}
ENDS |= {one + to for one in "ES" for to in "BIESO"}
STARTS = {"BB", "BS", "IB", "IS"}
STARTS |= {one + to for one in "OES" for to in "BIES"}
"""
Letters of neighbours of one type between which conlleval ends, or starts, a chunk.
"""

AS_BIOES = str.maketrans("LUM", "ESI")


@st.composite
def corpora(draw: st.DrawFn, *, types: tuple[str, ...] = ("PER", "a-b")) -> Corpus:
    """Sentences with random tags of a scheme, many of which are predicted correctly."""
    letters = draw(st.sampled_from(["BI", "BILU", "BIES", "BMES", "BIESLUM"]))
    tags = ["O"]
    for type_ in types:
        tags += [join_tag(letter, type_) for letter in letters]
    tag = st.sampled_from(tags)
    pairs = st.tuples(tag, tag) | tag.map(lambda one: (one, one))
    return draw(st.lists(st.lists(pairs, max_size=9), max_size=4))


def as_bioes(tag: str) -> str:
    return tag[0].translate(AS_BIOES) + tag[1:]


def edge(before: str, after: str) -> tuple[bool, bool]:
    """Whether a chunk ends, and whether one starts, between two neighbouring tags."""
    pair = before[0] + after[0]
    if before[1:] == after[1:]:
        return pair in ENDS, pair in STARTS
    return before != "O", after != "O"


def conlleval(corpus: Corpus) -> dict[str, int]:
    """
    The numbers of chunks, counted in one pass as conlleval does: a predicted chunk is
    correct if it starts and ends with a gold one of its type.
    """
    counts = {"correct": 0, "predicted": 0, "gold": 0}
    for sentence in corpus:
        tags = [("O", "O"), *sentence, ("O", "O")]
        is_common = False
        for (ours, theirs), (our_next, their_next) in pairwise(tags):
            ends, starts = edge(as_bioes(ours), as_bioes(our_next))
            gold_ends, gold_starts = edge(as_bioes(theirs), as_bioes(their_next))
            if is_common and ends and gold_ends:
                counts["correct"] += 1
            if ends or gold_ends:
                is_common = False
            if starts and gold_starts:
                is_common = our_next[1:] == their_next[1:]
            counts["predicted"] += starts
            counts["gold"] += gold_starts
    return counts


def scored(corpus: Corpus) -> EntityF1:
    metric = EntityF1()
    for sentence in corpus:
        metric([[tag for tag, _ in sentence]], [[tag for _, tag in sentence]])
    return metric


@settings(deadline=None)
@given(corpus=corpora() | corpora(types=("",)))
def test_equals_conlleval_on_all_tags_legal_or_not(corpus: Corpus) -> None:
    metric = scored(corpus)
    counts = conlleval(corpus)
    assert metric.report()["overall"] == counts
    scores = metric.get_metric()
    correct = counts["correct"]
    assert scores["precision"] == pytest.approx(correct / max(1, counts["predicted"]))
    assert scores["recall"] == pytest.approx(correct / max(1, counts["gold"]))
    assert scores["f1"] == pytest.approx(
        2 * correct / max(1, counts["predicted"] + counts["gold"])
    )


@settings(deadline=None)
@given(corpus=corpora())
def test_equals_seqeval_on_all_tags_legal_or_not(corpus: Corpus) -> None:
    seqeval = pytest.importorskip("seqeval.metrics.sequence_labeling")
    sides = []
    for side in (0, 1):
        tags = [[as_bioes(pair[side]) for pair in one] for one in corpus]
        sides.append(set(seqeval.get_entities(tags)))
    ours, gold = sides
    counts = {"correct": len(ours & gold), "predicted": len(ours), "gold": len(gold)}
    assert scored(corpus).report()["overall"] == counts


def test_processes_that_see_different_types_count_together() -> None:
    def report() -> dict[str, Any]:
        metric = EntityF1()
        if process_rank() == 0:
            metric([["U-PER", "O"]], [["U-PER", "U-LOC"]])
        else:
            metric([["U-ORG"]], [["O"]])
        return metric.report()

    first, second = in_processes(2, report)
    assert first["overall"] == {"correct": 1, "predicted": 2, "gold": 2}
    assert list(first["labels"]) == ["LOC", "ORG", "PER"]
    assert first == second


def test_spans_without_types_have_overall_scores_only() -> None:
    metric = EntityF1()
    metric([["B", "L", "O", "U"]], [["B", "L", "U", "O"]])
    assert metric.get_metric() == {"precision": 0.5, "recall": 0.5, "f1": 0.5}
