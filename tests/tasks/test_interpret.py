"""AllenNLP's Interpret explains predictions: saliency of words, and reduced inputs."""

from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader
from allennlp.data.fields import IndexField, LabelField, SequenceLabelField
from allennlp.interpret.attackers import InputReduction
from allennlp.interpret.saliency_interpreters import SimpleGradient
from allennlp.predictors import Predictor

from tests.models import make_model
from tests.tiny import SAMPLES

WORDS = ["Captain", "Halloran", "sailed", "from", "Brackwater", "."]
CASES: dict[str, tuple[dict[str, Any], str, list[int]]] = {
    "sst": ({"tokens": WORDS}, "tokens", [6]),
    "snli": ({"premise": WORDS, "hypothesis": WORDS[:3]}, "hypothesis", [3, 6]),
    "ner": ({"tokens": WORDS}, "tokens", [6]),
    "squad": (
        {"passage": " ".join(WORDS), "question": "Who sailed ?"},
        "question",
        [3, 6],
    ),
}
"""
Of each task an input, the field that is reduced, and the lengths of the texts in the
order in which AllenNLP counts them, the last first.
"""


@pytest.fixture(params=CASES)
def predictor(request: pytest.FixtureRequest, tmp_path: Path) -> Predictor:
    task = request.param
    reader = DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}"}))
    instances = list(reader.read(SAMPLES[task]))[:5]
    model = make_model(task, instances, tmp_path, {"at": "both"})
    return Predictor.by_name(f"elmo_tasks_{task}")(model, reader)


def case_of(predictor: Predictor) -> tuple[dict[str, Any], str, list[int]]:
    for task, case in CASES.items():
        if type(predictor) is Predictor.by_name(f"elmo_tasks_{task}"):
            return case
    raise AssertionError(predictor)


def test_simple_gradient(predictor: Predictor) -> None:
    given, _, lengths = case_of(predictor)
    found = SimpleGradient(predictor).saliency_interpret_from_json(given)
    for grads in found.values():
        shown = [grads[f"grad_input_{n}"] for n in range(1, len(lengths) + 1)]
        assert [len(values) for values in shown] == lengths
        assert all(sum(values) == pytest.approx(1) for values in shown)


def test_input_reduction(predictor: Predictor) -> None:
    """What is left is a part of the input with the same prediction."""
    given, field, _ = case_of(predictor)
    found = InputReduction(predictor).attack_from_json(given, field, "grad_input_1")
    original = found["original"]
    for left in found["final"]:
        assert 1 <= len(left) <= len(original)
        words = iter(original)
        assert all(word in words for word in left)  # in the same order
    assert found["final"]


LABELS = {
    "sst": ({"label": "3"}, {"label": "3"}),
    "snli": ({"label": "neutral"}, {"label": "neutral"}),
    "squad": (
        {"spans": [{"token_start": 1, "token_end": 3}]},
        {"span_start": 1, "span_end": 2},
    ),
}


@pytest.mark.parametrize("task", LABELS)
def test_the_prediction_is_the_label(task: str, tmp_path: Path) -> None:
    reader = DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}"}))
    model = make_model(task, list(reader.read(SAMPLES[task]))[:5], tmp_path, None)
    predictor = Predictor.by_name(f"elmo_tasks_{task}")(model, reader)
    instance = predictor._json_to_instance(CASES[task][0])
    outputs, expected = LABELS[task]
    (labelled,) = predictor.predictions_to_labeled_instances(instance, outputs)
    for name, value in expected.items():
        field = labelled[name]
        assert isinstance(field, LabelField | IndexField)
        found = field.label if isinstance(field, LabelField) else field.sequence_index
        assert found == value
    assert not set(expected) & set(instance.fields)  # the given one is as it was


TAGS = ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (TAGS, [["B-PER", "I-PER", *"OOOO"], [*"OOOO", "B-LOC", "O"]]),
        (["O"] * 6, [["O"] * 6]),
    ],
)
def test_an_instance_for_each_entity(
    tags: list[str], expected: list[list[str]], tmp_path: Path
) -> None:
    reader = DatasetReader.from_params(Params({"type": "elmo_tasks_ner"}))
    model = make_model("ner", list(reader.read(SAMPLES["ner"]))[:5], tmp_path, None)
    predictor = Predictor.by_name("elmo_tasks_ner")(model, reader)
    instance = predictor._json_to_instance({"tokens": WORDS})
    found = predictor.predictions_to_labeled_instances(instance, {"tags": tags})
    labels = []
    for one in found:
        field = one["tags"]
        assert isinstance(field, SequenceLabelField)
        labels.append(field.labels)
    assert labels == expected
