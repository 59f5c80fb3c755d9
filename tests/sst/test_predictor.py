"""The SST predictor over a model that counts marks, alone and in batches, and faults of its input."""

from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.sst.predictor import SstPredictor
from elmo_tasks.sst.reader import SstReader

NAMES = ["very negative", "negative", "neutral", "positive", "very positive"]


class MarksModel(Model):
    """The more exclamation marks, the more positive."""

    def __init__(self, labels: str = "30124") -> None:
        super().__init__(Vocabulary())
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.labels = list(labels)

    def forward(self, tokens: Any, metadata: list[dict[str, Any]], label: Any = None) -> dict[str, Any]:
        words = [text["words"] for text in metadata]
        best = [self.labels[min(of_one.count("!"), len(self.labels) - 1)] for of_one in words]
        rows = [{label: 0.6 if label == one else 0.1 for label in self.labels} for one in best]
        return {"words": words, "label": best, "probabilities": rows, "logits": torch.zeros(len(words), 1)}


@pytest.fixture
def predictor() -> SstPredictor:
    return SstPredictor(MarksModel(), SstReader(token_indexers={"tokens": SingleIdTokenIndexer()}))


def test_raw_text(predictor: SstPredictor) -> None:
    assert predictor.predict("It isn't  bad") == {
        "tokens": ["It", "is", "n't", "bad"],
        "label": "positive",
        "probabilities": {"very negative": 0.1, "negative": 0.1, "neutral": 0.1, "positive": 0.6, "very positive": 0.1},
    }


def test_names_run_from_negative_to_positive_whatever_the_order_of_the_labels(predictor: SstPredictor) -> None:
    assert list(predictor.predict("It works")["probabilities"]) == NAMES


def test_tokens_are_left_as_they_are(predictor: SstPredictor) -> None:
    result = predictor.predict_tokens(["It", "isn't", "! !", "!"])
    assert (result["tokens"], result["label"]) == (["It", "isn't", "! !", "!"], "very negative")


def test_batches_keep_the_order(predictor: SstPredictor) -> None:
    inputs: list[Any] = [{"sentence": "a ! !"}, {"tokens": ["b"]}, {"sentence": "c !"}]
    results = predictor.predict_batch_json(inputs)
    assert [result["label"] for result in results] == ["negative", "positive", "very negative"]
    assert results == [predictor.predict_json(one) for one in inputs]


def test_two_classes() -> None:
    model = MarksModel()
    model.labels = ["positive", "negative"]
    reader = SstReader(token_indexers={"tokens": SingleIdTokenIndexer()}, classes=2)
    result = SstPredictor(model, reader).predict("Oh !")
    assert (result["label"], list(result["probabilities"])) == ("negative", ["negative", "positive"])


def test_instances_of_the_reader_whatever_their_label(predictor: SstPredictor) -> None:
    instance = SstReader().text_to_instance(["no"], "0")
    assert predictor.predict_instance(instance)["label"] == "positive"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, r"wanted \{\"sentence\": .*; found neither, but \[\]"),
        ({"text": "It"}, "the keys of an input are 'sentence', 'tokens', 'id'; found 'text' besides"),
        ({"sentence": "It", "tokens": ["It"]}, "found both"),
        (["It"], r"found \['It'\]"),
        ({"sentence": 7}, "'sentence' must be a string; found 7"),
        ({"sentence": " \n"}, "'sentence' is empty"),
        ({"tokens": "It works"}, "'tokens' must be a list of words; found 'It works'"),
        ({"tokens": []}, "'tokens' is empty: it needs a word at least"),
        ({"tokens": ["It", None]}, "word 1 of 'tokens' must be a string; found None"),
        ({"tokens": ["It", " "]}, "word 1 of 'tokens' is empty"),
    ],
)
def test_bad_input(predictor: SstPredictor, inputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        predictor.predict_json(inputs)


def test_bad_line(predictor: SstPredictor) -> None:
    with pytest.raises(InputError, match="one JSON object a line was wanted, found 'It works': "):
        predictor.load_line("It works\n")


def test_name() -> None:
    assert Predictor.by_name("elmo_tasks_sst") is SstPredictor
