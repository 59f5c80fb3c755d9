"""Passage and question -> the best spans with offsets."""

from typing import Any, cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import IndexField, TextField
from allennlp.predictors import Predictor
from overrides import overrides

from elmo_tasks.tasks.inputs import read_input
from elmo_tasks.tasks.predictor import JsonLinesPredictor, metadata_of
from elmo_tasks.tasks.squad.io import SquadInput, SquadOutput


@Predictor.register("elmo_tasks_squad")
class SquadPredictor(JsonLinesPredictor):
    """
    Takes `{"passage": "raw text", "question": "raw text"}` and returns

    - `question`, and for instances of the reader their `id`;
    - the best span: `text`, `start` and `end` in characters, `token_start` and
      `token_end` in tokens, `score` (the sum of two logits) and `probability` (among
      all spans within the length limit);
    - `n_best`: the same for the model's `n_best` best spans, best first.

    Ends are exclusive: `passage[start:end]` is `text`.
    """

    takes = SquadInput
    returns = SquadOutput
    gold_fields = ("span_start", "span_end")

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        found: JsonDict = {}
        # AllenNLP would convert it to a string.
        identifier = metadata_of(instance)["id"]
        if identifier is not None:
            found["id"] = identifier
        found["question"] = outputs["question"]
        spans = outputs["spans"]
        found |= spans[0]
        found["n_best"] = spans
        return found

    @overrides
    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        given = read_input(self.takes, json_dict)
        return self._dataset_reader.text_to_instance(given.question, given.passage)

    @overrides
    def predictions_to_labeled_instances(
        self, instance: Instance, outputs: dict[str, Any]
    ) -> list[Instance]:
        """The instance with the prediction as its gold answer, for AllenNLP's Interpret."""
        best = outputs["spans"][0]
        labelled = instance.duplicate()
        # Interpret compares the fields: this one has no arrays.
        passage = TextField(cast(TextField, labelled["passage"]).tokens)
        vocab = self._model.vocab
        start, last = best["token_start"], best["token_end"] - 1
        labelled.add_field("span_start", IndexField(start, passage), vocab)
        labelled.add_field("span_end", IndexField(last, passage), vocab)
        return [labelled]
