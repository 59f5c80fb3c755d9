"""What every task's predictor shares: JSON lines in, each fault of theirs one clear error."""

import json
from math import inf
from typing import Any, cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import MetadataField
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError, shown

NOT_JSON = (ValueError, RecursionError)
"""What `json.loads` raises: besides its own error where a number has thousands of digits, or brackets are that deep."""

_MOST_BRACKETS = 10_000

_ID = "id"


class JsonLinesPredictor(Predictor):
    """
    A predictor whose input file holds one JSON object a line. A child names the keys of an input, the fields with the
    gold answers, which the model does not get, and may reshape the model's output.

    Every input may have an `id`, a string or a number, which the output then has, too. Other keys are refused: one that
    is misspelt would be passed over.
    """

    keys: tuple[str, ...] = ()
    """What an input may have besides its `id`."""

    gold_fields: tuple[str, ...] = ()
    """What instances of the reader lose: nothing is scored here, and gold labels may be unknown to the model."""

    def load_line(self, line: str) -> JsonDict:
        """
        # Raises

        `InputError`
            If the line is not JSON.
        """
        try:
            return loaded(line.strip())
        except NOT_JSON as error:
            found = f"found {shown(line.strip())}: {json_problem(error)}"
            raise InputError(f"one JSON object a line was wanted, {found}") from None

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The output for one input. Raises what `predict_batch_json` does."""
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """
        The output for each input; the order is kept.

        # Raises

        `InputError`
            If one is no object with these keys, or what stands under them is of another kind.
        """
        names = [self._name(one) for one in inputs]
        return [{**name, **output} for name, output in zip(names, self.outputs(inputs), strict=True)]

    def outputs(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """`predict_batch_json` without the names."""
        outputs: list[JsonDict] = super().predict_batch_json(inputs)
        return outputs

    def _name(self, one: Any) -> JsonDict:
        """The `id` of an input, if it has one; the keys are checked."""
        if not isinstance(one, dict):
            return {}  # the child tells what it wants
        if unknown := sorted(set(one) - {*self.keys, _ID}):
            listed = ", ".join(map(repr, (*self.keys, _ID)))
            raise InputError(f"the keys of an input are {listed}; found {', '.join(map(shown, unknown))} besides")
        return {_ID: _identifier(one[_ID])} if one.get(_ID) is not None else {}

    def predict_instance(self, instance: Instance) -> JsonDict:
        """Runs the model on one instance, from this predictor or from the reader."""
        return self.result(instance, super().predict_instance(self.without_gold(instance)))

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """Runs the model on a batch of instances; the order is kept."""
        outputs = super().predict_batch_instance([self.without_gold(one) for one in instances])
        return [self.result(*pair) for pair in zip(instances, outputs, strict=True)]

    def without_gold(self, instance: Instance) -> Instance:
        """The instance without its `gold_fields`."""
        return Instance({name: field for name, field in instance.items() if name not in self.gold_fields})

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """What is shown of the model's output for an instance."""
        return outputs


def _identifier(value: Any) -> str | int | float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(value, str) or (number and abs(value) < inf):
        return value
    raise InputError(f"{_ID!r} must be a string or a finite number; found {shown(value)}")


def metadata_of(instance: Instance) -> dict[str, Any]:
    """What an instance's field `metadata` holds."""
    return cast(MetadataField, instance["metadata"]).metadata


def loaded(text: str) -> Any:
    """
    What a text in JSON stands for.

    # Raises

    `NOT_JSON`
        If it is none; if it has more brackets than any text with words: a list takes twenty times the memory of its
        brackets.
    """
    if text.count("[") + text.count("{") > _MOST_BRACKETS + len(text) // 10:
        raise ValueError("more than a tenth of it are brackets")
    return json.loads(text)


def json_problem(error: Exception) -> str:
    """What is wrong with a text that is not JSON."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.colno}"
    return str(error)


def text_problem(value: Any) -> str | None:
    """What is wrong with a value that should be a text, as a message goes on after its name; `None` if nothing is."""
    if not isinstance(value, str):
        return "must be a string"
    if not value.strip():
        return "is empty: it needs a word at least"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds one half of a character alone (a surrogate)"
    return None


def text_of(json_dict: Any, key: str, *, wanted: str) -> str:
    """
    The text under a key.

    # Parameters

    json_dict : `Any`
        What a line of input held.
    key : `str`
    wanted : `str`
        How an input looks, for the messages.

    # Raises

    `InputError`
        If it is not an object with that key, or what stands there is not a string or blank.
    """
    if not isinstance(json_dict, dict):
        raise InputError(f"{wanted}; found {shown(json_dict)}")
    if key not in json_dict:
        raise InputError(f"{wanted}; found no {key!r}, but {shown(sorted(json_dict))}")
    if problem := text_problem(json_dict[key]):
        raise InputError(f"{key!r} {problem}; found {shown(json_dict[key])}")
    return json_dict[key]


def words_of(words: Any, name: str) -> list[str]:
    """
    A list of words, checked.

    # Parameters

    words : `Any`
    name : `str`
        What to call it in the messages.

    # Raises

    `InputError`
        If it is no list, or empty, or a word is none.
    """
    if not isinstance(words, list):
        raise InputError(f"{name} must be a list of words; found {shown(words)}")
    if not words:
        raise InputError(f"{name} is empty: it needs a word at least")
    for place, word in enumerate(words):
        if problem := text_problem(word):
            raise InputError(f"word {place} of {name} {problem}; found {shown(word)}")
    return words
