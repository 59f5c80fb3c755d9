"""Last step of SQuAD: passage and question in, the best spans with offsets out."""

from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from elmo_tasks.prediction.json_input import JsonLinesPredictor, metadata_of, text_of

_WANTED = 'wanted {"passage": "raw text", "question": "raw text"}'


@Predictor.register("elmo_tasks_squad")
class SquadPredictor(JsonLinesPredictor):
    """
    Takes `{"passage": "raw text", "question": "raw text"}` and gives

    - `question`, and for instances of the reader their `id`;
    - the best span: `text`, `start` and `end` in characters, `token_start` and `token_end` in tokens, `score` (sum of
      two logits) and `probability` (share of all spans within the limit);
    - `n_best`: the same of the best spans, the best first; the model's `n_best` tells how many.

    Ends are not included: `passage[start:end]` is `text`.
    """

    keys = ("passage", "question")
    gold_fields = ("span_start", "span_end")

    def predict(self, question: str, passage: str) -> JsonDict:
        """Answers one question."""
        return self.predict_json({"passage": passage, "question": question})

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """The best span, then all of the best ones."""
        identifier = metadata_of(instance)["id"]  # of which AllenNLP would make a string
        named = {} if identifier is None else {"id": identifier}
        spans = outputs["spans"]
        return {**named, "question": outputs["question"], **spans[0], "n_best": spans}

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """
        # Raises

        `InputError`
            If it is not an object with a passage and a question, or one of them is empty or of another type.
        """
        passage, question = (text_of(json_dict, key, wanted=_WANTED) for key in ("passage", "question"))
        return self._dataset_reader.text_to_instance(question, passage)
