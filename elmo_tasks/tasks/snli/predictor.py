"""SNLI predictor: a premise and a hypothesis -> a label, probabilities and attention."""

from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.formats.json_values import text_of, words_of
from elmo_tasks.tasks.predictor import JsonLinesPredictor
from elmo_tasks.tasks.tokenizer import BlankSpacyTokenizer

_EXPECTED = '{"premise": "raw text", "hypothesis": "raw text"}, or lists of words instead of texts'
_SHOWN = ("label", "probabilities", "premise", "hypothesis", "premise_attention", "hypothesis_attention")


@Predictor.register("elmo_tasks_snli")
class SnliPredictor(JsonLinesPredictor):
    """
    Input: `{"premise": ..., "hypothesis": ...}`, each raw text or a list of words. Output:

    - `label`, and `probabilities` by label;
    - the words of `premise` and `hypothesis`;
    - `premise_attention`, for each word of the premise its weights over the words of the hypothesis, and
      `hypothesis_attention`, the reverse.
    """

    keys = ("premise", "hypothesis")
    gold_fields = ("label",)

    def __init__(self, model: Model, dataset_reader: DatasetReader, frozen: bool = True) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._tokenizer = BlankSpacyTokenizer()

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        return {name: outputs[name] for name in _SHOWN}

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """Raises `InputError` if the input does not have the documented form."""
        premise, hypothesis = (self._words(json_dict, key) for key in ("premise", "hypothesis"))
        return self._dataset_reader.text_to_instance(premise, hypothesis)

    def _words(self, json_dict: Any, key: str) -> list[str]:
        if isinstance(json_dict, dict) and isinstance(json_dict.get(key), list):
            return words_of(json_dict[key], f"{key!r}")
        return [token.ensure_text() for token in self._tokenizer.tokenize(text_of(json_dict, key, expected=_EXPECTED))]
