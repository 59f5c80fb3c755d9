"""
The base classes of all predictors: JSON lines as input, and sentences as raw text or
tokens.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import LabelField, MetadataField, TextField
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_tasks.formats.json_files import parse_json
from elmo_tasks.tasks.inputs import Input, Output, SentenceInput, read_input
from elmo_tasks.tasks.reader import BlankSpacyTokenizer, LanguageReader, offsets_of

_ID = "id"


class JsonLinesPredictor(Predictor):
    """
    A predictor that takes one JSON object per line. A subclass says what it `takes` and `returns`,
    names the fields with the gold answers, which the model does not get, and may change
    the model's output.

    An input may have an `id`, which is copied to the output. Unknown keys are rejected.
    """

    takes: type[Input] = Input
    """The form of an input."""

    returns: type[Output] = Output
    """The form of an output, as the description of the HTTP interface has it."""

    gold_fields: tuple[str, ...] = ()
    """
    Fields that are removed from the reader's instances: gold labels may be unknown to
    the model.
    """

    @cached_property
    def tokenizer(self) -> BlankSpacyTokenizer:
        """Splits raw text by spaCy's rules for the reader's `language`, or English."""
        language = "en"
        if isinstance(self._dataset_reader, LanguageReader):
            language = self._dataset_reader.language
        return BlankSpacyTokenizer(language)

    @overrides
    def load_line(self, line: str) -> JsonDict:
        """Raises `InputError` if the line is not JSON."""
        return parse_json(line.strip(), "one JSON object per line")

    @overrides
    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The output for one input. Raises what `predict_batch_json` does."""
        return self.predict_batch_json([inputs])[0]

    @overrides
    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """
        The outputs in the order of the inputs. Raises `InputError` if an input is not
        an object with these keys, or a value is invalid.
        """
        for one in inputs:
            read_input(self.takes, one)
        results = []
        for one, output in zip(inputs, self.outputs(inputs), strict=True):
            if _ID in one:
                results.append({_ID: one[_ID]} | output)
            else:
                results.append(output)
        return results

    def predict(self, **inputs: Any) -> JsonDict:
        """
        The output for one input, such as `predict(sentence="She heard it.")`; see
        `takes` for its keys, which are those of `elmo-tasks predict`.
        """
        return self.predict_json(inputs)

    def sizes(self, json_dict: JsonDict) -> dict[str, int]:
        """
        What the time and memory of a prediction depend on, by name; here the number of
        `words` of all texts. Raises `InputError` for an invalid input.
        """
        read_input(self.takes, json_dict)
        words = 0
        for field in self._json_to_instance(json_dict).fields.values():
            if isinstance(field, TextField):
                words += len(field.tokens)
        return {"words": words}

    def outputs(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """`predict_batch_json` without the `id`."""
        outputs: list[JsonDict] = super().predict_batch_json(inputs)
        return outputs

    @overrides
    def predict_instance(self, instance: Instance) -> JsonDict:
        """The output for an instance of this predictor or the reader."""
        outputs = super().predict_instance(self.without_gold(instance))
        return self.result(instance, outputs)

    @overrides
    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """The outputs in the order of the instances."""
        without_gold = [self.without_gold(one) for one in instances]
        outputs = super().predict_batch_instance(without_gold)
        pairs = zip(instances, outputs, strict=True)
        return [self.result(instance, output) for instance, output in pairs]

    def without_gold(self, instance: Instance) -> Instance:
        """The instance without its `gold_fields`."""
        fields = dict(instance.fields)
        for name in self.gold_fields:
            fields.pop(name, None)
        return Instance(fields)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """The predictor's output, from the model's; by default the same."""
        return outputs

    @overrides
    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        """
        The instance with a predicted `label` as its gold answer, for AllenNLP's
        Interpret. Raises `NotImplementedError` for other outputs.
        """
        if "label" not in outputs:
            raise NotImplementedError
        labelled = instance.duplicate()
        label = LabelField(outputs["label"])
        labelled.add_field("label", label, self._model.vocab)
        return [labelled]


def metadata_of(instance: Instance) -> dict[str, Any]:
    """The content of an instance's field `metadata`."""
    return cast(MetadataField, instance["metadata"]).metadata


class TokenizedText(NamedTuple):
    """The T words of a sentence, a passage or a document, and where they are in it."""

    words: list[str]
    text: str | None = None
    """The raw text, if that was the input."""
    offsets: Sequence[tuple[int, int]] = ()
    """Of each word in the text, ends exclusive; empty without raw text."""

    def located(self, start: int, end: int) -> dict[str, Any]:
        """
        The span of words `start` to `end`, exclusive, as predictions show it: `text`,
        `token_start`, `token_end`, and for raw text `start` and `end` in characters, so
        that `sentence[start:end]` is `text`.
        """
        if self.text is None:
            found: dict[str, Any] = {"text": " ".join(self.words[start:end])}
        else:
            first, _ = self.offsets[start]
            _, last = self.offsets[end - 1]
            found = {"text": self.text[first:last], "start": first, "end": last}
        found["token_start"] = start
        found["token_end"] = end
        return found


class SentencePredictor(JsonLinesPredictor):
    """
    A predictor that takes `{"sentence": "raw text"}`, which is split by spaCy's rules
    for the reader's `language`, or English, or `{"tokens": [...]}`.
    """

    takes: type[Input] = SentenceInput

    @overrides
    def predict(self, sentence: str | None = None, **inputs: Any) -> JsonDict:
        """The output for one sentence of raw text, or for other keys."""
        if sentence is not None:
            inputs["sentence"] = sentence
        return self.predict_json(inputs)

    def read(self, json_dict: JsonDict) -> TokenizedText:
        """Raises `InputError` if it has not either a valid sentence or valid tokens."""
        read_input(self.takes, json_dict)
        if "tokens" in json_dict:
            return TokenizedText(json_dict["tokens"])
        text = json_dict["sentence"]
        tokens = self.tokenizer.tokenize(text)
        words = [token.ensure_text() for token in tokens]
        return TokenizedText(words, text, offsets_of(tokens))


class PairPredictor(JsonLinesPredictor):
    """
    A predictor of two texts, the first boxes of what it `takes`, each raw text, which
    spaCy's rules for the reader's `language`, or English, split, or a list of words.
    """

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """Raises `InputError` if the input does not have the documented form."""
        read_input(self.takes, json_dict)
        (first, _), (second, _) = self.takes.boxes()
        return self._dataset_reader.text_to_instance(
            self._words(json_dict[first]), self._words(json_dict[second])
        )

    def _words(self, value: str | list[str]) -> list[str]:
        if isinstance(value, list):
            return value
        return self.tokenizer.words(value)
