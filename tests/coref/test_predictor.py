"""The coreference predictor on a model that links equal words."""

import json
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.models import Model

from elmo_tasks.coref.predictor import CorefPredictor
from elmo_tasks.coref.reader import CorefReader
from elmo_tasks.data.mentions import Cluster


class EqualWordsModel(Model):
    """Equal capitalised words are coreferent; the mention includes the next word."""

    def __init__(self) -> None:
        super().__init__(Vocabulary())
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, text: Any, speakers: Any, genre: Any, metadata: list[dict[str, Any]]) -> dict[str, Any]:
        self.seen = speakers, genre
        return {"clusters": [equal_words(known["sentences"]) for known in metadata]}


def equal_words(sentences: list[list[str]]) -> list[Cluster]:
    words = [word for sentence in sentences for word in sentence]
    capitals = dict.fromkeys(word for word in words if word[0].isupper())
    found = [[(place, place + 2) for place, word in enumerate(words) if word == capital] for capital in capitals]
    return [cluster for cluster in found if len(cluster) > 1]


@pytest.fixture
def predictor() -> CorefPredictor:
    return CorefPredictor(EqualWordsModel(), CorefReader(token_indexers={"tokens": SingleIdTokenIndexer()}))


def test_text_with_offsets(predictor: CorefPredictor) -> None:
    text = "  Mira  sold it. Then, in Tarn bay,\n\nMira (\U0001f600) left Tarn  bay!"
    result = predictor.predict(text)
    assert set(result) == {"sentences", "clusters"}
    assert [sentence[0] for sentence in result["sentences"]] == ["Mira", "Then", "Mira"]
    mira, tarn = result["clusters"]
    assert [mention["text"] for mention in tarn] == ["Tarn bay", "Tarn  bay"]
    assert [mention["token_start"] for mention in mira] == [0, 10]
    words = [word for sentence in result["sentences"] for word in sentence]
    for mention in [*mira, *tarn]:
        assert text[mention["start"] : mention["end"]] == mention["text"]
        assert words[mention["token_start"] : mention["token_end"]] == mention["text"].split()
    json.dumps(result)


def test_speakers_and_genre_reach_the_model(predictor: CorefPredictor) -> None:
    speakers = [["Anna", "Anna"], ["Tobin"]]
    predictor.predict_json({"sentences": [["a", "b"], ["c"]], "speakers": speakers, "genre": "nw"})
    model = predictor._model
    assert isinstance(model, EqualWordsModel)
    assert model.seen[0].tolist() == [[0, 0, 1]]
    assert model.seen[1].tolist() == [-1]
