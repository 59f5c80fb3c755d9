"""The NER predictor, with a model that tags capitalised words."""

import json
from itertools import groupby
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.models import Model

from elmo_tasks.errors import InputError
from elmo_tasks.ner.predictor import NerPredictor
from elmo_tasks.ner.reader import NerReader


class CapitalsModel(Model):
    """Runs of capitalised words are entities of type NAME."""

    def __init__(self) -> None:
        super().__init__(Vocabulary())
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, tokens: Any, metadata: list[dict[str, Any]], tags: Any = None) -> dict[str, Any]:
        words = [of_one["words"] for of_one in metadata]
        tagged = [capital_tags(of_one) for of_one in words]
        return {"tags": tagged, "words": words, "logits": torch.zeros(len(words), 1)}


def capital_tags(words: list[str]) -> list[str]:
    tags: list[str] = []
    for capital, run in groupby(words, key=lambda word: word[:1].isupper()):
        length = len(list(run))
        if not capital:
            tags += ["O"] * length
        elif length == 1:
            tags += ["U-NAME"]
        else:
            tags += ["B-NAME", *["I-NAME"] * (length - 2), "L-NAME"]
    return tags


@pytest.fixture
def predictor() -> NerPredictor:
    return NerPredictor(CapitalsModel(), NerReader(token_indexers={"tokens": SingleIdTokenIndexer()}))


def test_sentence_with_offsets(predictor: NerPredictor) -> None:
    sentence = "  on  Monday, Mira   Oakes-Lane met (Tobin)."
    result = predictor.predict(sentence)
    assert set(result) == {"tokens", "tags", "entities"}
    assert len(result["tokens"]) == len(result["tags"])
    seen = [(e["text"], e["start"], e["type"]) for e in result["entities"]]
    assert seen[0] == ("Monday", 6, "NAME")
    assert seen[1][0].startswith("Mira   Oakes")
    assert seen[-1] == ("Tobin", 37, "NAME")
    for entity in result["entities"]:
        assert sentence[entity["start"] : entity["end"]] == entity["text"]
        words = result["tokens"][entity["token_start"] : entity["token_end"]]
        assert "".join(words) == entity["text"].replace(" ", "")
    json.dumps(result)


def test_tokens_have_token_offsets_only(predictor: NerPredictor) -> None:
    result = predictor.predict_tokens(["met", "Mira", "Oakes", ",", "Tobin"])
    assert result["tokens"] == ["met", "Mira", "Oakes", ",", "Tobin"]
    assert result["tags"] == ["O", "B-NAME", "L-NAME", "O", "U-NAME"]
    assert result["entities"] == [
        {"text": "Mira Oakes", "type": "NAME", "token_start": 1, "token_end": 3},
        {"text": "Tobin", "type": "NAME", "token_start": 4, "token_end": 5},
    ]


def test_tokenizer_without_offsets() -> None:
    predictor = NerPredictor(CapitalsModel(), NerReader(), tokenizer=WhitespaceTokenizer())
    with pytest.raises(InputError, match="expected a tokenizer that sets the offsets"):
        predictor.predict("Mira left")
