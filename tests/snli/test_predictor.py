"""The SNLI predictor over a model that compares first words, alone and in batches."""

import json
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.snli.predictor import SnliPredictor
from elmo_tasks.snli.reader import SnliReader


class FirstWordsModel(Model):
    """Entailment where both sentences start with the same word; weights all on the first word."""

    def __init__(self) -> None:
        super().__init__(Vocabulary())
        self.anchor = torch.nn.Parameter(torch.zeros(1))

    def forward(self, premise: Any, hypothesis: Any, metadata: list[dict[str, Any]]) -> dict[str, Any]:
        same = [pair["premise"][0] == pair["hypothesis"][0] for pair in metadata]
        first = [[[1.0] + [0.0] * (len(p["hypothesis"]) - 1)] * len(p["premise"]) for p in metadata]
        second = [[[1.0] + [0.0] * (len(p["premise"]) - 1)] * len(p["hypothesis"]) for p in metadata]
        return {
            "logits": self.anchor + torch.zeros(len(metadata), 3),
            "label": ["entailment" if one else "neutral" for one in same],
            "probabilities": [{"entailment": float(one), "neutral": 1.0 - one, "contradiction": 0.0} for one in same],
            "premise": [pair["premise"] for pair in metadata],
            "hypothesis": [pair["hypothesis"] for pair in metadata],
            "premise_attention": first,
            "hypothesis_attention": second,
        }


@pytest.fixture
def predictor() -> SnliPredictor:
    return SnliPredictor(FirstWordsModel(), SnliReader())


def test_raw_texts(predictor: SnliPredictor) -> None:
    result = predictor.predict("Dogs don't sing.", " Dogs bark")
    assert result == {
        "label": "entailment",
        "probabilities": {"entailment": 1.0, "neutral": 0.0, "contradiction": 0.0},
        "premise": ["Dogs", "do", "n't", "sing", "."],
        "hypothesis": ["Dogs", "bark"],
        "premise_attention": [[1.0, 0.0]] * 5,
        "hypothesis_attention": [[1.0, 0.0, 0.0, 0.0, 0.0]] * 2,
    }
    assert json.loads(json.dumps(result)) == result


def test_lists_of_words_are_left_as_they_are(predictor: SnliPredictor) -> None:
    result = predictor.predict_json({"premise": ["Don't", "shout"], "hypothesis": "Don't shout"})
    assert result["premise"] == ["Don't", "shout"]
    assert result["hypothesis"] == ["Do", "n't", "shout"]


def test_batches_keep_the_order(predictor: SnliPredictor) -> None:
    inputs = [{"premise": "a b c", "hypothesis": "a"}, {"premise": "x", "hypothesis": "y z"}]
    together = predictor.predict_batch_json(inputs)
    assert [result["label"] for result in together] == ["entailment", "neutral"]
    assert together == [predictor.predict_json(one) for one in inputs]


def test_a_gold_label_is_no_input(predictor: SnliPredictor) -> None:
    instance = SnliReader().text_to_instance(["a"], ["a"], "neutral")
    assert predictor.predict_instance(instance)["label"] == "entailment"
    assert predictor.predict_batch_instance([instance])[0]["label"] == "entailment"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["a", "b"], r"wanted \{\"premise\": .* found \['a', 'b'\]"),
        ({"premise": "a"}, "found no 'hypothesis', but \\['premise'\\]"),
        ({"premise": 3, "hypothesis": "b"}, "'premise' must be a string; found 3"),
        ({"premise": "a", "hypothesis": "  "}, "'hypothesis' is empty: it needs a word at least"),
        ({"premise": [], "hypothesis": "b"}, "'premise' is empty: it needs a word at least"),
        ({"premise": "a", "hypothesis": ["b", 7]}, "word 1 of 'hypothesis' must be a string; found 7"),
        ({"premise": ["a", " "], "hypothesis": "b"}, "word 1 of 'premise' is empty"),
    ],
)
def test_bad_input(predictor: SnliPredictor, inputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        predictor.predict_json(inputs)
    with pytest.raises(InputError, match=message):
        predictor.predict_batch_json([{"premise": "a", "hypothesis": "b"}, inputs])


def test_bad_line(predictor: SnliPredictor) -> None:
    with pytest.raises(InputError, match="one JSON object a line was wanted, found 'a dog': "):
        predictor.load_line("a dog\n")


def test_registered_name() -> None:
    assert Predictor.by_name("elmo_tasks_snli") is SnliPredictor
