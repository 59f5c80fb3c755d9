"""The SRL predictor over a model that calls the word before the predicate its ARG0, alone and in batches."""

import json
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.srl.predictor import SrlPredictor
from elmo_tasks.srl.reader import SrlReader
from tests.srl.samples import corpus


class BeforeModel(Model):
    """What stands before the predicate is its ARG0, what stands after it its ARG1."""

    def __init__(self) -> None:
        super().__init__(Vocabulary.from_instances(corpus()))
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.batches: list[int] = []

    def forward(self, tokens: Any, metadata: list[dict[str, Any]]) -> dict[str, Any]:
        self.batches.append(len(metadata))
        marked = tokens["predicate"]["tokens"].argmax(1).tolist()
        assert marked == [one["predicate"] for one in metadata]
        return {"tags": [tagged(len(one["words"]), one["predicate"]) for one in metadata]}


def tagged(length: int, predicate: int) -> list[str]:
    before = ["B-ARG0", *["I-ARG0"] * predicate][:predicate]
    return [*before, "B-V", *["B-ARG1", *["I-ARG1"] * length][: length - predicate - 1]]


@pytest.fixture
def predictor() -> SrlPredictor:
    return SrlPredictor(BeforeModel(), SrlReader())


def test_words_that_were_predicates_in_training_are_found(predictor: SrlPredictor) -> None:
    result = predictor.predict_tokens(["They", "SOLD", "the", "plan", "and", "Fell"])
    assert [(frame["predicate"], frame["verb"]) for frame in result["frames"]] == [(1, "SOLD"), (5, "Fell")]
    assert result["tokens"] == ["They", "SOLD", "the", "plan", "and", "Fell"]


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


def test_a_sentence_with_offsets(predictor: SrlPredictor) -> None:
    sentence = "  Mira   Oakes fell (hard)"
    result = predictor.predict(sentence)
    assert result["tokens"] == ["Mira", "Oakes", "fell", "(", "hard", ")"]
    (frame,) = result["frames"]
    assert [(one["label"], one["text"], one["start"]) for one in frame["arguments"]] == [
        ("ARG0", "Mira   Oakes", 2),
        ("V", "fell", 15),
        ("ARG1", "(hard)", 20),
    ]
    for argument in frame["arguments"]:
        assert sentence[argument["start"] : argument["end"]] == argument["text"]
    json.dumps(result)


def test_given_predicates_replace_the_found_ones(predictor: SrlPredictor) -> None:
    inputs = {"sentence": "Rain fell on us", "predicates": [3, 0]}
    assert [frame["predicate"] for frame in predictor.predict_json(inputs)["frames"]] == [0, 3]
    assert predictor.predict_json({"tokens": ["Rain", "fell"], "predicates": []})["frames"] == []


def test_no_predicate(predictor: SrlPredictor) -> None:
    assert predictor.predict("nothing here") == {"tokens": ["nothing", "here"], "frames": []}
    assert predictor._model.batches == []


def test_batch_equals_one_by_one_in_order_and_is_one_batch(predictor: SrlPredictor) -> None:
    inputs: list[dict[str, Any]] = [
        {"sentence": "Rain fell and fell."},
        {"tokens": ["nothing"]},
        {"tokens": ["Mira", "sold", "it"]},
    ]
    batch = predictor.predict_batch_json(inputs)
    assert predictor._model.batches == [3]
    assert batch == [predictor.predict_json(one) for one in inputs]
    assert [len(one["frames"]) for one in batch] == [2, 0, 1]


def test_a_long_line_is_cut_into_batches(predictor: SrlPredictor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elmo_tasks.srl.predictor.MAX_TOKENS", 25)
    long, short = {"tokens": ["sold"] * 10}, {"tokens": ["sold", "it"]}
    batch = predictor.predict_batch_json([long, short])
    assert predictor._model.batches == [1 + 1, 2, 2, 2, 2, 1]
    assert [frame["tags"] for frame in batch[0]["frames"]] == [tagged(10, place) for place in range(10)]
    assert [frame["tags"] for frame in batch[1]["frames"]] == [tagged(2, 0)]


def test_instances_of_the_reader(predictor: SrlPredictor) -> None:
    results = predictor.predict_batch_instance(corpus())
    assert [frame["verb"] for one in results for frame in one["frames"]] == [
        *("keeps", "sold", "Give", "said", "lose", "stepping", "fell")
    ]
    assert predictor.predict_instance(corpus()[6]) == results[6]


def test_lines_of_json(predictor: SrlPredictor) -> None:
    inputs = predictor.load_line('{"sentence": "Rain fell"}\n')
    line = predictor.dump_line(predictor.predict_json(inputs))
    assert json.loads(line)["frames"][0]["tags"] == ["B-ARG0", "B-V"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, r"wanted \{\"sentence\": .*; found neither, but \[\]"),
        ({"sentence": "Mira", "tokens": ["Mira"]}, "found both"),
        (["Mira"], r"found \['Mira'\]"),
        ({"sentence": 7}, "'sentence' must be a string; found 7"),
        ({"sentence": " \n\t "}, "'sentence' is empty"),
        ({"tokens": "Mira left"}, "'tokens' must be a list of words; found 'Mira left'"),
        ({"tokens": []}, "'tokens' is empty"),
        ({"tokens": ["Mira", " "]}, "word 1 of 'tokens' is empty"),
        ({"tokens": ["a"], "predicates": 0}, "'predicates' must be a list of whole numbers; found 0"),
        ({"tokens": ["a"], "predicates": [True]}, r"'predicates' must be a list of whole numbers; found \[True\]"),
        ({"tokens": ["a"], "predicates": [1]}, "'predicates' must be places among 1 tokens, from 0; found 1"),
        ({"tokens": ["a"], "predicates": [-1]}, "from 0; found -1"),
        ({"tokens": ["a"], "predicates": [0, 0]}, r"'predicates' must be different tokens; found \[0, 0\]"),
    ],
)
def test_bad_input(predictor: SrlPredictor, inputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        predictor.predict_json(inputs)
    with pytest.raises(InputError, match=message):
        predictor.predict_batch_json([{"sentence": "Rain fell"}, inputs])


def test_bad_line(predictor: SrlPredictor) -> None:
    with pytest.raises(InputError, match="one JSON object a line was wanted, found 'Rain fell': "):
        predictor.load_line("Rain fell\n")


def test_tokenizer_without_offsets() -> None:
    predictor = SrlPredictor(BeforeModel(), SrlReader(), tokenizer=WhitespaceTokenizer())
    with pytest.raises(InputError, match="the tokenizer must tell the offset of each token"):
        predictor.predict("Rain fell")


def test_evaluation_mode_and_name() -> None:
    model = BeforeModel()
    SrlPredictor(model, SrlReader(), frozen=False)
    assert model.training
    SrlPredictor(model, SrlReader())
    assert not model.training
    assert Predictor.by_name("elmo_tasks_srl") is SrlPredictor
