"""Last step of SNLI: a premise and a hypothesis in, a label with probabilities and the attention out."""

from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.data.json_input import JsonLinesPredictor, shown, text_of
from elmo_tasks.data.tokenizer import BlankSpacyTokenizer
from elmo_tasks.errors import InputError

_WANTED = 'wanted {"premise": "raw text", "hypothesis": "raw text"}, or lists of words instead of texts'


@Predictor.register("elmo_tasks_snli")
class SnliPredictor(JsonLinesPredictor):
    """
    Takes `{"premise": ..., "hypothesis": ...}`, each raw text or a list of words, and gives

    - `label`, and `probabilities`, one for each label;
    - `premise` and `hypothesis`, the words;
    - `premise_attention`, for each word of the premise its weights over the words of the hypothesis, and
      `hypothesis_attention`, the other way round.

    # Parameters

    model : `Model`
        Its output per instance holds all of these.
    dataset_reader : `DatasetReader`
        An `SnliReader`.
    frozen : `bool`
        Whether the model is put into evaluation mode.
    """

    def __init__(self, model: Model, dataset_reader: DatasetReader, frozen: bool = True) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._tokenizer = BlankSpacyTokenizer()

    def predict(self, premise: str, hypothesis: str) -> JsonDict:
        """Labels one pair of raw texts."""
        return self.predict_json({"premise": premise, "hypothesis": hypothesis})

    def predict_instance(self, instance: Instance) -> JsonDict:
        """Runs the model on one instance, from this predictor or from the reader."""
        return _result(super().predict_instance(_without_gold(instance)))

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """Runs the model on a batch of instances; the order is kept."""
        outputs = super().predict_batch_instance([_without_gold(one) for one in instances])
        return [_result(output) for output in outputs]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """
        # Raises

        `InputError`
            If it is not an object with a premise and a hypothesis, or if one of them is empty or of another type.
        """
        premise, hypothesis = (self._words(json_dict, key) for key in ("premise", "hypothesis"))
        return self._dataset_reader.text_to_instance(premise, hypothesis)

    def _words(self, json_dict: Any, key: str) -> list[str]:
        if isinstance(json_dict, dict) and isinstance(json_dict.get(key), list):
            return _checked_words(json_dict[key], key)
        return [token.ensure_text() for token in self._tokenizer.tokenize(text_of(json_dict, key, wanted=_WANTED))]


def _checked_words(words: list[Any], key: str) -> list[str]:
    if not words:
        raise InputError(f"{key!r} is empty: it needs a word at least")
    for position, word in enumerate(words):
        if not isinstance(word, str) or not word.strip():
            found = f"word {position} is {shown(word)}"
            raise InputError(f"{key!r} must be a text, or words that are not blank; {found}")
    return words


def _without_gold(instance: Instance) -> Instance:
    """Predictions have no loss, and leave the model's metrics alone."""
    return Instance({name: field for name, field in instance.items() if name != "label"})


def _result(outputs: JsonDict) -> JsonDict:
    names = ("label", "probabilities", "premise", "hypothesis", "premise_attention", "hypothesis_attention")
    return {name: outputs[name] for name in names}
