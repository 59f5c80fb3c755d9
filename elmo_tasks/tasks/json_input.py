"""The base class of all predictors: JSON lines as input, with one clear error for each invalid one."""

import json
import re
from math import inf
from pathlib import Path
from typing import Annotated, Any, cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import MetadataField
from allennlp.predictors import Predictor
from pydantic import AfterValidator, FailFast, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from elmo_tasks.errors import InputError, shown

NOT_JSON = (ValueError, RecursionError)
"""What `loaded` raises; numbers of thousands of digits raise a plain `ValueError`, deep nesting a `RecursionError`."""

_MOST_BRACKETS = 10_000
_SURROGATE = re.compile("[\ud800-\udfff]")

_ID = "id"


class JsonLinesPredictor(Predictor):
    """
    A predictor that takes one JSON object per line. A subclass names the keys of an input and the fields with the gold
    answers, which the model does not get, and may change the model's output.

    An input may have an `id`, a string or a number, which is copied to the output. Unknown keys are rejected.
    """

    keys: tuple[str, ...] = ()
    """The keys of an input besides `id`."""

    gold_fields: tuple[str, ...] = ()
    """Fields that are removed from the reader's instances: gold labels may be unknown to the model."""

    def load_line(self, line: str) -> JsonDict:
        """Raises `InputError` if the line is not JSON."""
        try:
            return loaded(line.strip())
        except NOT_JSON as error:
            found = f"got {shown(line.strip())}: {json_problem(error)}"
            raise InputError(f"expected one JSON object per line, {found}") from None

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The output for one input. Raises what `predict_batch_json` does."""
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """
        The outputs in the order of the inputs. Raises `InputError` if an input is not an object with these keys, or a
        value is invalid.
        """
        names = [self._name(one) for one in inputs]
        return [{**name, **output} for name, output in zip(names, self.outputs(inputs), strict=True)]

    def outputs(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """`predict_batch_json` without the `id`."""
        outputs: list[JsonDict] = super().predict_batch_json(inputs)
        return outputs

    def _name(self, one: Any) -> JsonDict:
        """The `id` of an input, if it has one; checks the keys."""
        if not isinstance(one, dict):
            return {}  # rejected by the subclass
        if unknown := sorted(set(one) - {*self.keys, _ID}):
            listed = ", ".join(map(repr, (*self.keys, _ID)))
            raise InputError(f"expected the keys {listed}, got the unknown {', '.join(map(shown, unknown))}")
        value = one.get(_ID)
        number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf
        if not (value is None or number or isinstance(value, str)):
            raise InputError(f"expected a string or a finite number as {_ID!r}, got {shown(value)}")
        return {} if value is None else {_ID: value}

    def predict_instance(self, instance: Instance) -> JsonDict:
        """The output for an instance of this predictor or the reader."""
        return self.result(instance, super().predict_instance(self.without_gold(instance)))

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """The outputs in the order of the instances."""
        outputs = super().predict_batch_instance([self.without_gold(one) for one in instances])
        return [self.result(*pair) for pair in zip(instances, outputs, strict=True)]

    def without_gold(self, instance: Instance) -> Instance:
        """The instance without its `gold_fields`."""
        return Instance({name: field for name, field in instance.items() if name not in self.gold_fields})

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """The predictor's output, from the model's; by default the same."""
        return outputs


def metadata_of(instance: Instance) -> dict[str, Any]:
    """The content of an instance's field `metadata`."""
    return cast(MetadataField, instance["metadata"]).metadata


def loaded(text: str) -> Any:
    """
    Parses JSON. Raises `NOT_JSON` if it is not JSON; if more than a tenth of it are brackets, since lists take twenty
    times the memory.
    """
    if text.count("[") + text.count("{") > _MOST_BRACKETS + len(text) // 10:
        raise ValueError("more than a tenth of it are brackets")
    return json.loads(text)


def json_problem(error: Exception) -> str:
    """Describes an error of `loaded`."""
    return f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else str(error)


def _check_text(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "expected a word")
    if not value.isascii() and _SURROGATE.search(value):
        raise PydanticCustomError("surrogate", "expected valid Unicode")
    return value


Text = Annotated[str, AfterValidator(_check_text)]
"""A string with a word and without surrogates, for pydantic."""

TEXT = TypeAdapter(Text)
WORDS = TypeAdapter(Annotated[list[Text], FailFast(), Field(min_length=1)])


def validate(
    adapter: TypeAdapter, value: Any, name: str, *, file: str | Path | None = None, line: int | None = None
) -> Any:
    """
    Validates a value, which error messages call `name`, in pydantic's strict mode. Raises `InputError` with the path of
    the first invalid value.
    """
    try:
        return adapter.validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in first["loc"])
        problem = (
            first["msg"]
            .partition(" or instance")[0]
            .replace("Input should be", "expected")
            .replace("Field required", "missing")
        )
        raise InputError(f"{name}{path}: {problem}, got {shown(first['input'])}", file=file, line=line) from None


def text_of(json_dict: Any, key: str, *, expected: str) -> str:
    """
    The text of a key of an input. Raises `InputError` if the input is not an object with that key, as `expected`
    describes it, or the value is not a `Text`.
    """
    if not isinstance(json_dict, dict) or key not in json_dict:
        raise InputError(f"expected {expected}, got {shown(json_dict)}")
    return validate(TEXT, json_dict[key], repr(key))


def words_of(words: Any, name: str) -> list[str]:
    """
    A list of words, which error messages call `name`. Raises `InputError` if it is not a list of `Text`, or is empty.
    """
    return validate(WORDS, words, name)
