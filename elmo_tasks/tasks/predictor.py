"""The base classes of all predictors: JSON lines as input, and sentences as raw text or tokens."""

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple, Optional, cast

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import MetadataField
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_values import NOT_JSON, json_problem, loaded, text_of, words_of
from elmo_tasks.tasks.tokenizer import BlankSpacyTokenizer, offsets_of

EXPECTED = '{"sentence": "raw text"} or {"tokens": ["the", "words"]}'

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


class Sentence(NamedTuple):
    """A sentence of T words."""

    words: list[str]
    text: str | None = None  # the raw text, if that was the input
    offsets: Sequence[tuple[int, int]] = ()  # of each word in the text, ends exclusive; empty without raw text

    def located(self, start: int, end: int) -> dict[str, Any]:
        """
        The span of words `start` to `end`, exclusive, as predictions show it: `text`, and for raw text `start` and
        `end` in characters, so that `sentence[start:end]` is `text`.
        """
        if self.text is None:
            return {"text": " ".join(self.words[start:end])}
        first, last = self.offsets[start][0], self.offsets[end - 1][1]
        return {"text": self.text[first:last], "start": first, "end": last}


class SentencePredictor(JsonLinesPredictor):
    """
    A predictor that takes `{"sentence": "raw text"}` or `{"tokens": [...]}`.

    # Parameters

    - `frozen`: whether the model is put into evaluation mode.
    - `tokenizer`: its tokens must have offsets; by default spaCy's rules for the reader's `language`, or English.
    """

    keys: tuple[str, ...] = ("sentence", "tokens")
    expected = EXPECTED
    """Describes an input, for error messages."""

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        *,
        tokenizer: Optional[Tokenizer] = None,
    ) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._tokenizer = tokenizer or BlankSpacyTokenizer(getattr(dataset_reader, "language", "en"))

    def predict(self, sentence: str) -> dict[str, Any]:
        """The output for one sentence of raw text."""
        return self.predict_json({"sentence": sentence})

    def read(self, json_dict: Any) -> Sentence:
        """Raises `InputError` if it is not an object with either a valid sentence or valid tokens."""
        if not isinstance(json_dict, dict) or ("sentence" in json_dict) == ("tokens" in json_dict):
            raise InputError(f"expected {self.expected}, got {shown(json_dict)}")
        if "tokens" in json_dict:
            return Sentence(words_of(json_dict["tokens"], "'tokens'"))
        text = text_of(json_dict, "sentence", expected=self.expected)
        tokens = self._tokenizer.tokenize(text)
        return Sentence([token.ensure_text() for token in tokens], text, offsets_of(tokens))


class PairPredictor(JsonLinesPredictor):
    """A predictor that takes two texts under its `keys`, each raw text, which spaCy splits, or a list of words."""

    def __init__(self, model: Model, dataset_reader: DatasetReader, frozen: bool = True) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._tokenizer = BlankSpacyTokenizer()

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """Raises `InputError` if the input does not have the documented form."""
        return self._dataset_reader.text_to_instance(*(self._words(json_dict, key) for key in self.keys))

    def _words(self, json_dict: Any, key: str) -> list[str]:
        if isinstance(json_dict, dict) and isinstance(json_dict.get(key), list):
            return words_of(json_dict[key], f"{key!r}")
        texts = ", ".join(f'"{name}": "raw text"' for name in self.keys)
        text = text_of(json_dict, key, expected=f"{{{texts}}}, or lists of words instead of texts")
        return [token.ensure_text() for token in self._tokenizer.tokenize(text)]
