"""Passage and question -> the best spans with offsets."""

from typing import Annotated, Any, cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import IndexField, TextField
from allennlp.predictors import Predictor
from overrides import overrides
from pydantic import BaseModel, ConfigDict, Field

from elmo_tasks.tasks.inputs import Box, Input, Output, Probability, Text, read_input
from elmo_tasks.tasks.predictor import JsonLinesPredictor, metadata_of


class SquadInput(Input):
    """A question about a passage, both raw text."""

    passage: Annotated[Text, Box("Passage", 4)]
    question: Annotated[Text, Box("Question", 1)]


class Answer(BaseModel):
    """A span of the passage. `passage[start:end]` is its text."""

    model_config = ConfigDict(extra="forbid")

    text: str
    token_start: Annotated[int, Field(ge=0)]
    token_end: Annotated[int, Field(ge=0)]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    score: float
    probability: Probability


class SquadOutput(Answer, Output):
    """The best answer."""

    question: Text
    n_best: Annotated[
        list[Answer], Field(min_length=1, description="The best answers, best first.")
    ]


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
