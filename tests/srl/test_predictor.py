"""The SRL predictor: the choice of predicates, and batches of limited size."""

from typing import Any

import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from tests.archives.make import STORED


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor.from_archive(load_archive(STORED / "1" / "srl.tar.gz"))


def predicates(predictor: Predictor, **inputs: Any) -> list[tuple[int, str]]:
    return [
        (frame["predicate"], frame["verb"])
        for frame in predictor.predict_json(inputs)["frames"]
    ]


def test_predicates_are_those_of_the_training_data_or_given(
    predictor: Predictor,
) -> None:
    assert predicates(
        predictor, tokens=["They", "SOLD", "the", "plan", "and", "Fell"]
    ) == [(1, "SOLD"), (5, "Fell")]
    assert predicates(predictor, sentence="nothing here") == []
    assert predicates(predictor, sentence="Rain fell on us", predicates=[3, 0]) == [
        (0, "Rain"),
        (3, "us"),
    ]
    assert predicates(predictor, tokens=["Rain", "fell"], predicates=[]) == []


def test_batches_are_limited(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = [
        {"tokens": ["sold"] * 10},
        {"tokens": ["nothing"]},
        {"tokens": ["sold", "it"]},
    ]
    whole, sizes, forward = (
        predictor.predict_batch_json(inputs),
        [],
        predictor._model.forward_on_instances,
    )

    def counted(instances: list[Any]) -> list[Any]:
        sizes.append(len(instances))
        return forward(instances)

    monkeypatch.setattr(predictor._model, "forward_on_instances", counted)
    monkeypatch.setattr("elmo_tasks.tasks.srl.predictor.MAX_TOKENS", 25)
    assert predictor.predict_batch_json(inputs) == whole
    assert sizes == [1 + 1, 2, 2, 2, 2, 1]
