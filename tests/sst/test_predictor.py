"""The SST predictor on a model that counts exclamation marks."""

from typing import Any

import torch
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.models import Model

from elmo_tasks.sst.predictor import SstPredictor
from elmo_tasks.sst.reader import SstReader


class MarksModel(Model):
    """The number of exclamation marks selects the label."""

    def __init__(self, labels: list[str]) -> None:
        super().__init__(Vocabulary())
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.labels = labels

    def forward(self, tokens: Any, metadata: list[dict[str, Any]], label: Any = None) -> dict[str, Any]:
        words = [text["words"] for text in metadata]
        best = [self.labels[min(text.count("!"), len(self.labels) - 1)] for text in words]
        rows = [{label: 0.6 if label == one else 0.1 for label in self.labels} for one in best]
        return {"words": words, "label": best, "probabilities": rows}


def predictor(labels: list[str] | None = None, **keys: Any) -> SstPredictor:
    reader = SstReader(token_indexers={"tokens": SingleIdTokenIndexer()}, **keys)
    return SstPredictor(MarksModel(labels or list("30124")), reader)


def test_raw_text_and_tokens() -> None:
    result = predictor().predict("It isn't  bad")
    assert result == {
        "tokens": ["It", "is", "n't", "bad"],
        "label": "positive",
        "probabilities": {"very negative": 0.1, "negative": 0.1, "neutral": 0.1, "positive": 0.6, "very positive": 0.1},
    }
    assert list(result["probabilities"]) == ["very negative", "negative", "neutral", "positive", "very positive"]
    assert predictor().predict_tokens(["It", "isn't", "! !", "!"])["tokens"] == ["It", "isn't", "! !", "!"]


def test_two_classes() -> None:
    result = predictor(["positive", "negative"], classes=2).predict("Oh !")
    assert (result["label"], list(result["probabilities"])) == ("negative", ["negative", "positive"])
