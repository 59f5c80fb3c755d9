"""Last step of NER: raw text or tokens in, entities with offsets out."""

from collections.abc import Sequence
from typing import Any, cast

from allennlp.common.util import JsonDict
from allennlp.data import DatasetReader, Instance, Token
from allennlp.data.fields import MetadataField
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.data.json_input import JsonLinesPredictor, shown, text_of
from elmo_tasks.data.spans import Span, spans_from_tags
from elmo_tasks.data.tokenizer import BlankSpacyTokenizer
from elmo_tasks.errors import InputError

_WANTED = 'wanted {"sentence": "raw text"} or {"tokens": ["the", "words"]}'


@Predictor.register("elmo_tasks_ner")
class NerPredictor(JsonLinesPredictor):
    """
    Takes `{"sentence": "raw text"}` or `{"tokens": [...]}` and gives

    - `tokens`, T words, and `tags`, T tags in BIOUL;
    - `entities`, each with `text`, `type`, `token_start`, `token_end`, and, for raw text, `start`
      and `end`. Ends are not included: `sentence[start:end]` is `text`, and
      `tokens[token_start:token_end]` are its words.

    # Parameters

    model : `Model`
        Its output per instance holds `words` and `tags` (BIOUL strings), T each.
    dataset_reader : `DatasetReader`
        An `NerReader`.
    frozen : `bool`
        Whether the model is put into evaluation mode.
    tokenizer : `Tokenizer`, optional
        Cuts raw text into tokens that know their offset; by default spaCy's rules for English.
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
        """Finds the entities of one sentence of raw text."""
        return self.predict_json({"sentence": sentence})

    def predict_tokens(self, tokens: Sequence[str]) -> JsonDict:
        """Finds the entities of one sentence that is cut into words already."""
        return self.predict_json({"tokens": list(tokens)})

    def predict_instance(self, instance: Instance) -> JsonDict:
        """Runs the model on one instance, from this predictor or from the reader."""
        return _result(instance, super().predict_instance(_without_gold(instance)))

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """Runs the model on a batch of instances; the order is kept."""
        outputs = super().predict_batch_instance([_without_gold(one) for one in instances])
        return [_result(*pair) for pair in zip(instances, outputs, strict=True)]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        """
        # Raises

        `InputError`
            If it is not an object with either a sentence or tokens, or if that is empty or of
            another type.
        """
        if not isinstance(json_dict, dict):
            raise InputError(f"{_WANTED}; found {shown(json_dict)}")
        if ("sentence" in json_dict) == ("tokens" in json_dict):
            which = "both" if "sentence" in json_dict else f"neither, but {sorted(json_dict)}"
            raise InputError(f"{_WANTED}; found {which}")
        if "tokens" in json_dict:
            return self._dataset_reader.text_to_instance(_checked_tokens(json_dict["tokens"]))
        return self._sentence_instance(text_of(json_dict, "sentence", wanted=_WANTED))

    def _sentence_instance(self, sentence: str) -> Instance:
        tokens = self._tokenizer.tokenize(sentence)
        instance = self._dataset_reader.text_to_instance([token.text for token in tokens])
        offsets = [_offsets(token) for token in tokens]
        _metadata(instance).update(sentence=sentence, offsets=offsets)
        return instance


def _without_gold(instance: Instance) -> Instance:
    """Tags that the model has never seen would not let the instance be indexed."""
    return Instance({name: field for name, field in instance.items() if name != "tags"})


def _checked_tokens(tokens: Any) -> list[str]:
    if not isinstance(tokens, list):
        raise InputError(f"'tokens' must be a list of words; found {shown(tokens)}")
    if not tokens:
        raise InputError("'tokens' is empty: it needs a word at least")
    for position, token in enumerate(tokens):
        if not isinstance(token, str) or not token.strip():
            found = f"token {position} is {shown(token)}"
            raise InputError(f"'tokens' must be words, strings that are not blank; {found}")
    return tokens


def _offsets(token: Token) -> tuple[int, int]:
    if token.idx is None or token.text is None:
        hint = "the default tokenizer does"
        raise InputError("the tokenizer must tell the offset of each token", hint=hint)
    return token.idx, token.idx + len(token.text)


def _metadata(instance: Instance) -> dict[str, Any]:
    return cast(MetadataField, instance["metadata"]).metadata


def _result(instance: Instance, outputs: JsonDict) -> JsonDict:
    words, tags = outputs["words"], outputs["tags"]
    entities = [_entity(span, words, _metadata(instance)) for span in spans_from_tags(tags)]
    return {"tokens": words, "tags": tags, "entities": entities}


def _entity(span: Span, words: list[str], metadata: dict[str, Any]) -> JsonDict:
    tokens = {"token_start": span.start, "token_end": span.end}
    if "sentence" not in metadata:
        return {"text": " ".join(words[span.start : span.end]), "type": span.label, **tokens}
    start, end = metadata["offsets"][span.start][0], metadata["offsets"][span.end - 1][1]
    text = metadata["sentence"][start:end]
    return {"text": text, "type": span.label, "start": start, "end": end, **tokens}
