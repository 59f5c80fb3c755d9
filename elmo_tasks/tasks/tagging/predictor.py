"""Raw text or tokens -> tags, and the spans that they encode."""

from typing import Annotated, Any, cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance, Token
from allennlp.data.fields import MetadataField, SequenceLabelField, TextField
from allennlp.predictors import Predictor
from overrides import overrides
from pydantic import Field

from elmo_tasks.formats.annotation.spans import OUTSIDE, spans_from_tags
from elmo_tasks.tasks.inputs import Output, SentenceInput, Span, Words
from elmo_tasks.tasks.predictor import SentencePredictor, TokenizedText, metadata_of
from elmo_tasks.tasks.reader import LABEL_NAMESPACE, SpanReader
from elmo_tasks.tasks.tagging.reader import as_trained

Offset = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]


class TaggerInput(SentenceInput):
    """A sentence."""


class Entity(Span):
    """A part of the sentence with a type."""

    type: str


class TaggerOutput(Output):
    """A tag for each word."""

    tokens: Words
    tags: list[str]
    offsets: Annotated[
        list[Offset], Field(description="Start and end of each word, for raw text.")
    ] = []
    entities: Annotated[
        list[Entity], Field(description="If the tags encode spans.")
    ] = []


@Predictor.register("elmo_tasks_tagger")
class TaggerPredictor(SentencePredictor):
    """
    Takes `{"sentence": "raw text"}` or `{"tokens": [...]}` and returns

    - `tokens`, T words, and `tags`, T tags, of spans in the scheme of the training
      data;
    - for raw text `offsets`, T pairs such that `sentence[start:end]` is the word;
    - where the reader's `spans` is true, `entities`, each with `text`, `type`,
      `token_start`, `token_end`, and for raw text `start` and `end`. Ends are
      exclusive: `sentence[start:end]` is `text`.

    The model may be another whose output contains `tags`, such as AllenNLP's
    `simple_tagger`, with a reader whose `text_to_instance` takes a list of `Token`s for
    the field `tokens` and makes a field `metadata`.
    """

    takes = TaggerInput
    returns = TaggerOutput
    gold_fields = ("tags",)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """
        The words and their tags, without the padding's, which AllenNLP's
        `simple_tagger` returns.
        """
        field = cast(TextField, instance["tokens"])
        words = [token.ensure_text() for token in field.tokens]
        sentence: TokenizedText | None = metadata_of(instance).get("sentence")
        if sentence is None:
            sentence = TokenizedText(words)
        tags = as_trained(outputs["tags"][: len(words)], self._model.vocab)
        result: JsonDict = {"tokens": words, "tags": tags}
        if sentence.text is not None:
            result["offsets"] = [list(offsets) for offsets in sentence.offsets]
        reader = self._dataset_reader
        if isinstance(reader, SpanReader) and reader.spans:
            result["entities"] = [
                sentence.located(start, end) | {"type": label}
                for start, end, label in spans_from_tags(tags)
            ]
        return result

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        sentence = self.read(json_dict)
        tokens = [Token(word) for word in sentence.words]
        instance = self._dataset_reader.text_to_instance(tokens)
        metadata_of(instance)["sentence"] = sentence
        return instance

    @overrides
    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        """
        For AllenNLP's Interpret, which explains one entity at a time: an instance for
        each predicted entity, whose gold tags are its own and `O` elsewhere. If the
        tags encode no spans, or there is no entity, one with all tags.
        """
        text = cast(TextField, instance["tokens"])
        predicted = outputs["tags"][: len(text)]
        chosen = []
        reader = self._dataset_reader
        if isinstance(reader, SpanReader) and reader.spans:
            for start, end, _ in spans_from_tags(predicted):
                tags = [OUTSIDE] * len(text)
                tags[start:end] = predicted[start:end]
                chosen.append(tags)
        found = []
        for tags in chosen or [predicted]:
            labelled = instance.duplicate()
            words = cast(TextField, labelled["tokens"])
            field = SequenceLabelField(tags, words, label_namespace=LABEL_NAMESPACE)
            labelled.add_field("tags", field, self._model.vocab)
            known = metadata_of(instance) | {"tags": tags}  # which the metric reads
            labelled.add_field("metadata", MetadataField(known))
            found.append(labelled)
        return found


@Predictor.register("elmo_tasks_ner")
class NerPredictor(TaggerPredictor):
    """`TaggerPredictor`, by the name of the preset."""
