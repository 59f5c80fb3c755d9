"""The SRL predictor on a model that labels the words before and after the predicate."""

import json
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from elmo_tasks.srl.predictor import SrlPredictor
from elmo_tasks.srl.reader import SrlReader
from tests.srl.samples import corpus


class BeforeModel(Model):
    """The words before the predicate are its ARG0, those after it its ARG1."""

    def __init__(self) -> None:
        super().__init__(Vocabulary.from_instances(corpus()))
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.batches: list[int] = []

    def forward(self, tokens: Any, metadata: list[dict[str, Any]]) -> dict[str, Any]:
        self.batches.append(len(metadata))
        assert tokens["predicate"]["tokens"].argmax(1).tolist() == [one["predicate"] for one in metadata]
        return {"tags": [tagged(len(one["words"]), one["predicate"]) for one in metadata]}


def tagged(length: int, predicate: int) -> list[str]:
    before = ["B-ARG0", *["I-ARG0"] * predicate][:predicate]
    return [*before, "B-V", *["B-ARG1", *["I-ARG1"] * length][: length - predicate - 1]]


@pytest.fixture
def predictor() -> SrlPredictor:
    return SrlPredictor(BeforeModel(), SrlReader())


def test_predicates_of_the_training_data_are_found(predictor: SrlPredictor) -> None:
    result = predictor.predict_tokens(["They", "SOLD", "the", "plan", "and", "Fell"])
    assert [(frame["predicate"], frame["verb"]) for frame in result["frames"]] == [(1, "SOLD"), (5, "Fell")]
    assert predictor.predict("nothing here") == {"tokens": ["nothing", "here"], "frames": []}


def test_a_frame_of_tokens(predictor: SrlPredictor) -> None:
    (frame,) = predictor.predict_tokens(["Mira", "Oakes", "left", "."], [2])["frames"]
    assert frame == {
        "predicate": 2,
        "verb": "left",
        "tags": ["B-ARG0", "I-ARG0", "B-V", "B-ARG1"],
        "arguments": [
            {"label": "ARG0", "text": "Mira Oakes", "token_start": 0, "token_end": 2},
            {"label": "V", "text": "left", "token_start": 2, "token_end": 3},
            {"label": "ARG1", "text": ".", "token_start": 3, "token_end": 4},
        ],
    }


def test_offsets_in_raw_text(predictor: SrlPredictor) -> None:
    sentence = "  Mira   Oakes fell (hard)"
    result = predictor.predict(sentence)
    assert result["tokens"] == ["Mira", "Oakes", "fell", "(", "hard", ")"]
    (frame,) = result["frames"]
    arguments = [(one["label"], one["text"], one["start"]) for one in frame["arguments"]]
    assert arguments == [("ARG0", "Mira   Oakes", 2), ("V", "fell", 15), ("ARG1", "(hard)", 20)]
    assert all(sentence[one["start"] : one["end"]] == one["text"] for one in frame["arguments"])
    json.dumps(result)


def test_given_predicates(predictor: SrlPredictor) -> None:
    inputs = {"sentence": "Rain fell on us", "predicates": [3, 0]}
    assert [frame["predicate"] for frame in predictor.predict_json(inputs)["frames"]] == [0, 3]
    assert predictor.predict_json({"tokens": ["Rain", "fell"], "predicates": []})["frames"] == []


def test_batches(predictor: SrlPredictor, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs: list[Any] = [
        {"sentence": "Rain fell and fell."},
        {"tokens": ["nothing"]},
        {"tokens": ["Mira", "sold", "it"]},
    ]
    batch = predictor.predict_batch_json(inputs)
    assert predictor._model.batches == [3]
    assert batch == [predictor.predict_json(one) for one in inputs]
    assert [len(one["frames"]) for one in batch] == [2, 0, 1]
    monkeypatch.setattr("elmo_tasks.srl.predictor.MAX_TOKENS", 25)
    predictor._model.batches.clear()
    long, short = predictor.predict_batch_json([{"tokens": ["sold"] * 10}, {"tokens": ["sold", "it"]}])
    assert predictor._model.batches == [1 + 1, 2, 2, 2, 2, 1]
    assert [frame["tags"] for frame in long["frames"]] == [tagged(10, place) for place in range(10)]
    assert [frame["tags"] for frame in short["frames"]] == [tagged(2, 0)]
