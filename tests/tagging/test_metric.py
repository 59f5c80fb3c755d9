"""Entity scores against spans of AllenNLP, and counts by hand."""

from typing import Any

import pytest
from allennlp.data.dataset_readers.dataset_utils import bio_tags_to_spans
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.tasks.tagging.metric import EntityF1
from elmo_tasks.training.distributed import process_rank
from tests.distributed import in_processes

TAGS = st.sampled_from(
    ["O", "B-PER", "I-PER", "U-PER", "L-PER", "B-a-b", "I-a-b", "U-a-b", "L-a-b"]
)
PAIRED = st.lists(st.tuples(TAGS, TAGS), max_size=9)


@st.composite
def close(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Few differences, so that many entities are correct."""
    pairs = []
    for tag, other in draw(st.lists(st.tuples(TAGS, st.none() | TAGS), max_size=9)):
        pairs.append((tag, other or tag))
    return pairs


@settings(deadline=None)
@given(corpus=st.lists(PAIRED | close(), max_size=4))
def test_equals_allennlps_spans(corpus: list[list[tuple[str, str]]]) -> None:
    """
    AllenNLP's spans of illegal BIO sequences are those of conlleval, which reads U as B
    and L as I.
    """
    metric = EntityF1()
    counts = {"correct": 0, "predicted": 0, "gold": 0}
    for sentence in corpus:
        predicted_tags = [tag for tag, _ in sentence]
        gold_tags = [tag for _, tag in sentence]
        metric([predicted_tags], [gold_tags])
        predicted = set(bio_tags_to_spans(list(map(as_bio, predicted_tags))))
        gold = set(bio_tags_to_spans(list(map(as_bio, gold_tags))))
        counts["correct"] += len(predicted & gold)
        counts["predicted"] += len(predicted)
        counts["gold"] += len(gold)
    assert metric.report()["overall"] == counts
    scores = metric.get_metric()
    correct = counts["correct"]
    assert scores["precision"] == pytest.approx(correct / max(1, counts["predicted"]))
    assert scores["recall"] == pytest.approx(correct / max(1, counts["gold"]))
    assert scores["f1"] == pytest.approx(
        2 * correct / max(1, counts["predicted"] + counts["gold"])
    )


def as_bio(tag: str) -> str:
    return tag[0].translate(str.maketrans("UL", "BI")) + tag[1:]


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
