"""Raw text or tokens in, tags out, for taggers that are not ours."""

from typing import cast

from allennlp.common.util import JsonDict
from allennlp.data import Instance, Token
from allennlp.data.fields import TextField
from allennlp.predictors import Predictor

from elmo_tasks.errors import InputError
from elmo_tasks.prediction.sentence_input import SentencePredictor


@Predictor.register("elmo_tasks_tagger")
class TaggerPredictor(SentencePredictor):
    """
    Takes `{"sentence": "raw text"}` or `{"tokens": [...]}` and gives `tokens`, T words, and `tags`, T tags; for raw
    text also `offsets`, T pairs: `sentence[start:end]` is the word.

    # Parameters

    model : `Model`
        Its output per instance holds `tags`, at least T strings.
    dataset_reader : `DatasetReader`
        Its `text_to_instance` takes a list of `Token`s, and makes the field `tokens` of them.
    frozen, tokenizer
        See `SentencePredictor`.
    """

    gold_fields = ("tags",)

    def result(self, instance: Instance, outputs: JsonDict) -> JsonDict:
        """
        The words and their tags, without those of padding, which AllenNLP's `simple_tagger` leaves in.

        # Raises

        `InputError`
            If the model's output has no tags.
        """
        if "tags" not in outputs:
            raise InputError(f"expected a model whose output has 'tags', got one with {', '.join(sorted(outputs))}")
        tokens = cast(TextField, instance["tokens"]).tokens
        result = {"tokens": [token.text for token in tokens], "tags": outputs["tags"][: len(tokens)]}
        if all(token.idx is not None for token in tokens):
            result["offsets"] = [[token.idx, token.idx_end] for token in tokens]
        return result

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """Raises what `read` does."""
        sentence = self.read(json_dict)
        tokens = [Token(word) for word in sentence.words]
        for token, (start, end) in zip(tokens, sentence.offsets, strict=False):  # none for tokens
            token.idx, token.idx_end = start, end
        return self._dataset_reader.text_to_instance(tokens)
