"""The SRL predictor: the choice of predicates, and batches of limited size."""

from typing import Any

import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.tasks.srl.predictor import MAX_TOKENS
from tests.archives.make import STORED


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor.from_archive(load_archive(STORED / "1" / "srl.tar.gz"))


def predicates(predictor: Predictor, **inputs: Any) -> list[tuple[int, str]]:
    frames = predictor.predict_json(inputs)["frames"]
    return [(frame["predicate"], frame["verb"]) for frame in frames]


def test_predicates_are_those_of_the_training_data_or_given(
    predictor: Predictor,
) -> None:
    words = ["They", "SOLD", "the", "plan", "and", "Fell"]
    assert predicates(predictor, tokens=words) == [(1, "SOLD"), (5, "Fell")]
    assert predicates(predictor, sentence="nothing here") == []
    found = predicates(predictor, sentence="Rain fell on us", predicates=[3, 0])
    assert found == [(3, "us"), (0, "Rain")]
    assert predicates(predictor, tokens=["Rain", "fell"], predicates=[]) == []


def test_batches_are_limited(predictor: Predictor) -> None:
    """A line of 95 frames has 9,025 words, of which a batch has at most 8,192."""
    inputs = [
        {"tokens": ["sold"] * 95},
        {"tokens": ["nothing"]},
        {"tokens": ["sold", "it"]},
    ]
    alone = [predictor.predict_json(one) for one in inputs[1:]]
    sizes: list[tuple[int, int]] = []

    def watch(module: Any, arguments: Any, named: dict[str, Any]) -> None:
        words = [frame["words"] for frame in named["metadata"]]
        sizes.append((len(words), max(map(len, words))))

    watching = predictor._model.register_forward_pre_hook(watch, with_kwargs=True)
    try:
        found = predictor.predict_batch_json(inputs)
    finally:
        watching.remove()
    assert found[1:] == alone
    assert [frame["predicate"] for frame in found[0]["frames"]] == list(range(95))
    counts = [count for count, _ in sizes]
    assert sum(counts) == 95 + 1
    largest = max([count * longest for count, longest in sizes])
    assert MAX_TOKENS - 95 < largest <= MAX_TOKENS


@settings(deadline=None, max_examples=20)
@given(places=st.lists(st.integers(0, 8), max_size=5))
def test_frames_are_those_that_were_asked_for(
    predictor: Predictor, places: list[int]
) -> None:
    """In this order, also the same one twice."""
    found = predicates(predictor, tokens=["Rain"] * 9, predicates=places)
    assert [place for place, _ in found] == places
