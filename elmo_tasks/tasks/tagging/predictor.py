"""Raw text or tokens -> tags, and the spans that they encode."""

from typing import cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance, Token
from allennlp.data.fields import TextField
from allennlp.predictors import Predictor

from elmo_tasks.formats.spans import spans_from_tags
from elmo_tasks.tasks.predictor import Sentence, SentencePredictor, metadata_of


@Predictor.register("elmo_tasks_tagger")
class TaggerPredictor(SentencePredictor):
    """
    Takes `{"sentence": "raw text"}` or `{"tokens": [...]}` and returns

    - `tokens`, T words, and `tags`, T tags;
    - for raw text `offsets`, T pairs such that `sentence[start:end]` is the word;
    - where the reader's `spans` is true, `entities`, each with `text`, `type`, `token_start`, `token_end`, and for raw
      text `start` and `end`. Ends are exclusive: `sentence[start:end]` is `text`.

    The model may be another whose output contains `tags`, such as AllenNLP's `simple_tagger`, with a reader whose
    `text_to_instance` takes a list of `Token`s for the field `tokens`.
    """

    gold_fields = ("tags",)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """The words and their tags, without the padding's, which AllenNLP's `simple_tagger` returns."""
        tokens = cast(TextField, instance["tokens"]).tokens
        result = {"tokens": [token.text for token in tokens], "tags": outputs["tags"][: len(tokens)]}
        if all(token.idx is not None for token in tokens):
            result["offsets"] = [[token.idx, token.idx_end] for token in tokens]
        if self._has_spans:
            sentence: Sentence = metadata_of(instance).get("sentence") or Sentence(result["tokens"])
            result["entities"] = [
                {**sentence.located(start, end), "type": label} for start, end, label in spans_from_tags(result["tags"])
            ]
        return result

    @property
    def _has_spans(self) -> bool:
        return getattr(self._dataset_reader, "spans", False)

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        sentence = self.read(json_dict)
        tokens = [Token(word) for word in sentence.words]
        for token, (start, end) in zip(tokens, sentence.offsets, strict=False):  # no offsets for tokens
            token.idx, token.idx_end = start, end
        instance = self._dataset_reader.text_to_instance(tokens)
        if self._has_spans:
            metadata_of(instance)["sentence"] = sentence
        return instance


@Predictor.register("elmo_tasks_ner")
class NerPredictor(TaggerPredictor):
    """As `TaggerPredictor`, always with `entities` and without `offsets`."""

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        result = super().result(instance, outputs)
        result.pop("offsets", None)
        return result
