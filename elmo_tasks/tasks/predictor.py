"""The base classes of all predictors: JSON lines as input, and sentences as raw text or tokens."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import MetadataField, TextField
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_values import TEXT, parse_json, validate, words_of
from elmo_tasks.tasks.tokenizer import BlankSpacyTokenizer, offsets_of

_ID = "id"


class JsonLinesPredictor(Predictor):
    """
    A predictor that takes one JSON object per line. A subclass names the keys of an input and the fields with the gold
    answers, which the model does not get, and may change the model's output.

    An input may have an `id`, which is copied to the output. Unknown keys are rejected.
    """

    keys: tuple[str, ...] = ()
    """The keys of an input besides `id`."""

    gold_fields: tuple[str, ...] = ()
    """Fields that are removed from the reader's instances: gold labels may be unknown to the model."""

    def load_line(self, line: str) -> JsonDict:
        """Raises `InputError` if the line is not JSON."""
        return parse_json(line.strip(), "one JSON object per line")

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The output for one input. Raises what `predict_batch_json` does."""
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """
        The outputs in the order of the inputs. Raises `InputError` if an input is not an object with these keys, or a
        value is invalid.
        """
        for one in inputs:
            self._require_keys(one)
        pairs = zip(inputs, self.outputs(inputs), strict=True)
        return [
            {_ID: one[_ID], **output} if _ID in one else output for one, output in pairs
        ]

    def sizes(self, json_dict: JsonDict) -> dict[str, int]:
        """
        What the time and memory of a prediction depend on, by name; here the number of `words` of all texts. Raises
        `InputError` for an invalid input.
        """
        self._require_keys(json_dict)
        words = 0
        for field in self._json_to_instance(json_dict).fields.values():
            if isinstance(field, TextField):
                words += len(field.tokens)
        return {"words": words}

    def outputs(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """`predict_batch_json` without the `id`."""
        outputs: list[JsonDict] = super().predict_batch_json(inputs)
        return outputs

    def predict_instance(self, instance: Instance) -> JsonDict:
        """The output for an instance of this predictor or the reader."""
        return self.result(
            instance, super().predict_instance(self.without_gold(instance))
        )

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """The outputs in the order of the instances."""
        outputs = super().predict_batch_instance(
            [self.without_gold(one) for one in instances]
        )
        return [self.result(*pair) for pair in zip(instances, outputs, strict=True)]

    def without_gold(self, instance: Instance) -> Instance:
        """The instance without its `gold_fields`."""
        return Instance(
            {
                name: field
                for name, field in instance.items()
                if name not in self.gold_fields
            }
        )

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """The predictor's output, from the model's; by default the same."""
        return outputs

    def _require_keys(self, given: Any) -> None:
        known = {*self.keys, _ID}
        if not isinstance(given, dict) or not given.keys() <= known:
            raise InputError(
                f"expected an object with keys among {', '.join(sorted(known))}, got {shown(given)}"
            )


def metadata_of(instance: Instance) -> dict[str, Any]:
    """The content of an instance's field `metadata`."""
    return cast(MetadataField, instance["metadata"]).metadata


class Sentence(NamedTuple):
    """A sentence, or a document, of T words."""

    words: list[str]
    text: str | None = None  # the raw text, if that was the input
    offsets: Sequence[
        tuple[int, int]
    ] = ()  # of each word in the text, ends exclusive; empty without raw text

    def located(self, start: int, end: int) -> dict[str, Any]:
        """
        The span of words `start` to `end`, exclusive, as predictions show it: `text`, `token_start`, `token_end`, and
        for raw text `start` and `end` in characters, so that `sentence[start:end]` is `text`.
        """
        place = {"token_start": start, "token_end": end}
        if self.text is None:
            return {"text": " ".join(self.words[start:end]), **place}
        first, last = self.offsets[start][0], self.offsets[end - 1][1]
        return {"text": self.text[first:last], "start": first, "end": last, **place}


class SentencePredictor(JsonLinesPredictor):
    """
    A predictor that takes `{"sentence": "raw text"}`, which is split by spaCy's rules for the reader's `language`, or
    English, or `{"tokens": [...]}`.
    """

    keys: tuple[str, ...] = ("sentence", "tokens")

    def __init__(
        self, model: Model, dataset_reader: DatasetReader, frozen: bool = True
    ) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._tokenizer = BlankSpacyTokenizer(getattr(dataset_reader, "language", "en"))

    def predict(self, sentence: str) -> dict[str, Any]:
        """The output for one sentence of raw text."""
        return self.predict_json({"sentence": sentence})

    def read(self, json_dict: JsonDict) -> Sentence:
        """Raises `InputError` if it has not either a valid sentence or valid tokens."""
        if ("sentence" in json_dict) == ("tokens" in json_dict):
            raise InputError(
                f"expected either 'sentence' or 'tokens', got {shown(json_dict)}"
            )
        if "tokens" in json_dict:
            return Sentence(words_of(json_dict["tokens"], "'tokens'"))
        text = validate(TEXT, json_dict["sentence"], "'sentence'")
        tokens = self._tokenizer.tokenize(text)
        return Sentence(
            [token.ensure_text() for token in tokens], text, offsets_of(tokens)
        )


class PairPredictor(JsonLinesPredictor):
    """A predictor that takes two texts under its `keys`, each raw text, which spaCy splits, or a list of words."""

    def __init__(
        self, model: Model, dataset_reader: DatasetReader, frozen: bool = True
    ) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._tokenizer = BlankSpacyTokenizer()

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """Raises `InputError` if the input does not have the documented form."""
        return self._dataset_reader.text_to_instance(
            *(self._words(json_dict.get(key), key) for key in self.keys)
        )

    def _words(self, value: Any, key: str) -> list[str]:
        if isinstance(value, list):
            return words_of(value, repr(key))
        return self._tokenizer.words(validate(TEXT, value, repr(key)))
