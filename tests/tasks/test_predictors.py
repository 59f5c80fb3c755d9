"""What the predictors of all six tasks have in common, with stored models."""

import json
import math
from functools import cache
from typing import Any

import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.tasks import TASKS
from tests.archives.make import INPUTS, STORED
from tests.archives.test_stored import assert_close
from tests.coref.test_reader import STORIES


@cache
def stored(task: str) -> Predictor:
    return Predictor.from_archive(load_archive(STORED / "1" / f"{task}.tar.gz"))


@pytest.mark.parametrize("task", INPUTS)
def test_a_batch_equals_single_inputs(task: str) -> None:
    inputs = [one.input for one in TASKS[task].examples[:2]] + [INPUTS[task]]
    batch = stored(task).predict_batch_json(inputs)
    assert_close(batch, [stored(task).predict_json(one) for one in inputs])
    assert batch[-1].get("id") == INPUTS[task].get("id")
    assert json.loads(json.dumps(batch)) == batch


def spans(output: Any) -> list[dict[str, Any]]:
    """All mentions, entities, arguments and answers in an output."""
    found = []
    if isinstance(output, dict):
        if "token_start" in output:
            found.append(output)
        output = list(output.values())
    if isinstance(output, list):
        for part in output:
            found += spans(part)
    return found


@pytest.mark.parametrize(
    ("task", "inputs"),
    [
        (
            "ner",
            {
                "sentence": "  Captain  Oakes (\U0001f600) said Mira   sold the\told ferry. "
            },
        ),
        (
            "srl",
            {
                "sentence": "  Captain  Oakes (\U0001f600) said Mira   sold the\told ferry. "
            },
        ),
        (
            "squad",
            {
                "passage": "  Mira  sold the “old \U0001f600 ferry” — in\n\nMay.",
                "question": "Who?",
            },
        ),
        (
            "coref",
            {
                "text": "  Mira  sold it. She left\n\n Mira (\U0001f600) knew the old  pilot. He left."
            },
        ),
    ],
)
def test_offsets_count_characters(task: str, inputs: dict[str, str]) -> None:
    text = next(iter(inputs.values()))
    output = stored(task).predict_json(inputs)
    words = output.get("tokens", [])
    for sentence in output.get("sentences", []):
        words += sentence
    assert spans(output)
    for span in spans(output):
        assert text[span["start"] : span["end"]] == span["text"]
        pieces = words[span["token_start"] : span["token_end"]] or span["text"].split()
        assert "".join(pieces) == "".join(span["text"].split())
    if task == "ner":
        assert [text[start:end] for start, end in output["offsets"]] == words


@pytest.mark.parametrize(
    ("task", "inputs", "message"),
    [
        ("ner", {}, r"expected either 'sentence' or 'tokens', got \{\}"),
        ("ner", {"sentence": " \n\t "}, "'sentence': expected a word"),
        ("ner", {"sentence": "a \ud800"}, "'sentence': expected valid Unicode"),
        ("ner", {"tokens": ["a", "b\0"]}, "'tokens'\\[1\\]: expected text without NUL"),
        ("sst", {"tokens": ["a", 7]}, r"'tokens'\[1\]: expected a valid string, got 7"),
        ("srl", {"tokens": ["a"], "predicates": [1]}, "among 1 words, .* got 1"),
        ("srl", {"tokens": ["a"], "id": math.nan}, "'id': expected a value of JSON"),
        ("snli", {"premise": "a"}, "expected the key 'hypothesis', got {'premise'"),
        (
            "coref",
            {"sentences": [["Mira"]], "speakers": [["x", "y"]]},
            "one speaker for each word",
        ),
        ("coref", {}, r"expected either 'text' or 'sentences', got \{\}"),
        (
            "coref",
            {"text": "Mira left.", "sentences": [["Mira", "left", "."]]},
            "expected either 'text' or 'sentences', got",
        ),
        ("coref", {"sentences": [["Mira"]], "genre": 5}, "'genre': expected .*, got 5"),
        (
            "coref",
            {"text": "Mira left.", "genre": "nw"},
            "expected 'genre' to be one of bc, fiction, got 'nw'",
        ),
        (
            "coref",
            {"sentences": [["Mira"]], "speakers": ["x"]},
            r"'speakers'\[0\]: expected .*, got",
        ),
    ],
)
def test_invalid_input(task: str, inputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        stored(task).predict_batch_json([INPUTS[task], inputs])
    with pytest.raises(InputError, match=message):  # what a server asks first
        if stored(task).sizes(inputs):
            stored(task).predict_json(inputs)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have(number: str) -> None:
    with pytest.raises(InputError, match="expected one JSON object per line, got"):
        stored("ner").load_line(f'{{"tokens": ["a"], "id": {number}}}')


def test_documents_of_a_file_keep_their_names() -> None:
    predictor = stored("coref")
    instance = next(iter(predictor._dataset_reader.read(STORIES)))
    found = predictor.predict_instance(instance)
    assert (found["key"], found["part"]) == ("bc/pier/00/pier_0001", 0)
    found = predictor.predict_json(INPUTS["coref"])
    assert "key" not in found and "part" not in found


@pytest.mark.parametrize("task", INPUTS)
def test_sizes_are_those_that_the_page_limits(task: str) -> None:
    sizes = stored(task).sizes(INPUTS[task])
    limits = TASKS[task].page.limits
    assert sizes.keys() == limits.keys()
    for what, size in sizes.items():
        assert 0 < size <= limits[what], what


def test_sizes_count_what_is_computed() -> None:
    srl = {"tokens": ["a"] * 7, "predicates": [0, 3, 3]}
    assert stored("srl").sizes(srl) == {"words": 7, "words times predicates": 21}
    coref = {"sentences": [["a"], ["b"] * 5, ["c"] * 2]}
    assert list(stored("coref").sizes(coref).values()) == [8, 3, 15]
    squad = {"passage": "Mira's ferry.", "question": "Who?"}
    assert stored("squad").sizes(squad) == {"words": 6}
    with pytest.raises(InputError, match=r"expected an object, got \[\]"):
        stored("snli").sizes([])


@pytest.mark.parametrize("task", INPUTS)
def test_unknown_keys_are_rejected_before_anything_is_computed(task: str) -> None:
    inputs = [INPUTS[task], {**INPUTS[task], "wrong": 1}]
    with pytest.raises(InputError, match="expected an object with keys among"):
        stored(task).predict_batch_json(inputs)
