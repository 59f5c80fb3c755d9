"""Last step of SST: raw text or tokens in, a distribution over the labels out."""

from collections.abc import Sequence
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.data.json_input import JsonLinesPredictor, shown, text_of
from elmo_tasks.data.tokenizer import BlankSpacyTokenizer
from elmo_tasks.errors import InputError
from elmo_tasks.sst.labels import FIVE, NAMES, TWO

_WANTED = 'wanted {"sentence": "raw text"} or {"tokens": ["the", "words"]}'


@Predictor.register("elmo_tasks_sst")
class SstPredictor(JsonLinesPredictor):
    """
    Takes `{"sentence": "raw text"}` or `{"tokens": [...]}` and gives

    - `tokens`, T words;
    - `label`, the most probable one: `very negative`, `negative`, `neutral`, `positive` or `very positive`, or of two
      classes `negative` or `positive`;
    - `probabilities`, by these names, from the most negative to the most positive.

    The treebank's words are cut as the Penn Treebank does; raw text is cut by nearly the same rules.

    # Parameters

    model : `Model`
        A `SentimentClassifier`.
    dataset_reader : `DatasetReader`
        An `SstReader`.
    frozen : `bool`
        Whether the model is put into evaluation mode.
    tokenizer : `Tokenizer`, optional
        Cuts raw text into tokens; by default spaCy's rules for English.
    """

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        *,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._tokenizer = tokenizer or BlankSpacyTokenizer()

    def predict(self, sentence: str) -> JsonDict:
        """The sentiment of one sentence of raw text."""
        return self.predict_json({"sentence": sentence})

    def predict_tokens(self, tokens: Sequence[str]) -> JsonDict:
        """The sentiment of one sentence that is cut into words already."""
        return self.predict_json({"tokens": list(tokens)})

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
            If it is not an object with either a sentence or tokens, or if that is empty or of another type.
        """
        return self._dataset_reader.text_to_instance(self._tokens(json_dict))

    def _tokens(self, json_dict: Any) -> list[str]:
        if isinstance(json_dict, dict) and "tokens" in json_dict:
            if "sentence" in json_dict:
                raise InputError(f"{_WANTED}; found both")
            return _checked_tokens(json_dict["tokens"])
        sentence = text_of(json_dict, "sentence", wanted=_WANTED)
        return [token.text for token in self._tokenizer.tokenize(sentence)]


def _without_gold(instance: Instance) -> Instance:
    """A label that the model has never seen would not let the instance be indexed."""
    return Instance({name: field for name, field in instance.items() if name != "label"})


def _checked_tokens(tokens: Any) -> list[str]:
    if not isinstance(tokens, list) or not tokens:
        raise InputError(f"'tokens' must be a list of one or more words; found {shown(tokens)}")
    for token in tokens:
        if not isinstance(token, str) or not token.strip():
            raise InputError(f"'tokens' must be words, strings that are not blank; found {shown(token)} among them")
    return tokens


def _result(outputs: JsonDict) -> JsonDict:
    found = outputs["probabilities"]
    probabilities = {NAMES.get(label, label): found[label] for label in (*FIVE, *TWO) if label in found}
    return {
        "tokens": outputs["words"],
        "label": NAMES.get(outputs["label"], outputs["label"]),
        "probabilities": probabilities,
    }
