"""Last step of SRL: raw text or tokens in, a frame for each predicate out."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

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
from elmo_tasks.srl.indexer import PREDICATES

_WANTED = 'wanted {"sentence": "raw text"} or {"tokens": ["the", "words"]}, and "predicates": [1, 4] if they are known'

Offsets = Sequence[tuple[int, int]]


class _Sentence(NamedTuple):
    """An input: its T words, its predicates, and for raw text that text and the offsets of the words in it."""

    words: list[str]
    predicates: list[int]
    text: str | None = None
    offsets: Offsets | None = None


@Predictor.register("elmo_tasks_srl")
class SrlPredictor(JsonLinesPredictor):
    """
    Takes `{"sentence": "raw text"}` or `{"tokens": [...]}`, and `"predicates": [...]`, the places of the predicates
    among the tokens counted from 0, if they are known. Gives

    - `tokens`, T words;
    - `frames`, one for each predicate in their order, each with `predicate` (its place), `verb` (its word), `tags` (T
      tags in BIO) and `arguments`: `label`, `text`, `token_start`, `token_end`, and, for raw text, `start` and `end`.
      Ends are not included. `C-ARG1` goes on with the argument `ARG1` before it.

    Without `predicates` every word is taken for one that was a predicate somewhere in the model's training data, in
    whatever form it is written. That is a list of words and no tagger: it takes the noun `plan` along with the verb,
    and misses verbs that training never met.

    # Parameters

    model : `Model`
        Its output per instance holds `words`, `predicate` and `tags` (BIO strings).
    dataset_reader : `DatasetReader`
        An `SrlReader`.
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
        """Finds the frames of one sentence of raw text."""
        return self.predict_json({"sentence": sentence})

    def predict_tokens(self, tokens: Sequence[str], predicates: Sequence[int] | None = None) -> JsonDict:
        """Finds the frames of one sentence that is cut into words already."""
        known = {} if predicates is None else {"predicates": list(predicates)}
        return self.predict_json({"tokens": list(tokens), **known})

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """
        Finds the frames of one input.

        # Raises

        `InputError`
            If it is not an object with either a sentence or tokens, if that is empty or of another type, or a predicate
            is none of the tokens.
        """
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """Finds the frames of some inputs, all at once; the order is kept. Raises what `predict_json` does."""
        sentences = [self._read(one) for one in inputs]
        pairs = [(sentence.words, place) for sentence in sentences for place in sentence.predicates]
        tags = iter(self._tags([self._dataset_reader.text_to_instance(*pair) for pair in pairs]))
        return [_result(sentence, [next(tags) for _ in sentence.predicates]) for sentence in sentences]

    def predict_instance(self, instance: Instance) -> JsonDict:
        """The one frame of an instance from the reader."""
        return self.predict_batch_instance([instance])[0]

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """The frames of instances from the reader, one each; the order is kept."""
        tags = self._tags([_without_gold(instance) for instance in instances])
        return [_result(_of_instance(one), [found]) for one, found in zip(instances, tags, strict=True)]

    def _read(self, json_dict: Any) -> _Sentence:
        if not isinstance(json_dict, dict):
            raise InputError(f"{_WANTED}; found {shown(json_dict)}")
        if ("sentence" in json_dict) == ("tokens" in json_dict):
            which = "both" if "sentence" in json_dict else f"neither, but {sorted(json_dict)}"
            raise InputError(f"{_WANTED}; found {which}")
        if "tokens" in json_dict:
            words = _checked_tokens(json_dict["tokens"])
            return _Sentence(words, self._predicates(words, json_dict))
        text = text_of(json_dict, "sentence", wanted=_WANTED)
        tokens = self._tokenizer.tokenize(text)
        words = [token.ensure_text() for token in tokens]
        return _Sentence(words, self._predicates(words, json_dict), text, [_offsets(token) for token in tokens])

    def _predicates(self, words: list[str], json_dict: JsonDict) -> list[int]:
        if "predicates" in json_dict:
            return _checked_predicates(json_dict["predicates"], words)
        known = self._model.vocab.get_token_to_index_vocabulary(PREDICATES)
        return [place for place, word in enumerate(words) if word.lower() in known]

    def _tags(self, instances: list[Instance]) -> list[list[str]]:
        for instance in instances:
            self._dataset_reader.apply_token_indexers(instance)
        outputs = self._model.forward_on_instances(instances) if instances else []
        return [output["tags"] for output in outputs]


def _without_gold(instance: Instance) -> Instance:
    """Tags that the model has never seen would be scored otherwise."""
    return Instance({name: field for name, field in instance.items() if name != "tags"})


def _of_instance(instance: Instance) -> _Sentence:
    metadata = cast(MetadataField, instance["metadata"]).metadata
    return _Sentence(metadata["words"], [metadata["predicate"]])


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


def _checked_predicates(predicates: Any, words: Sequence[str]) -> list[int]:
    if not isinstance(predicates, list) or any(type(place) is not int for place in predicates):
        raise InputError(f"'predicates' must be a list of whole numbers; found {shown(predicates)}")
    for place in predicates:
        if not 0 <= place < len(words):
            raise InputError(f"'predicates' must be places among {len(words)} tokens, from 0; found {place}")
    if len(set(predicates)) != len(predicates):
        raise InputError(f"'predicates' must be different tokens; found {shown(predicates)}")
    return sorted(predicates)


def _offsets(token: Token) -> tuple[int, int]:
    if token.idx is None or token.text is None:
        hint = "the default tokenizer does"
        raise InputError("the tokenizer must tell the offset of each token", hint=hint)
    return token.idx, token.idx + len(token.text)


def _result(sentence: _Sentence, tags: list[list[str]]) -> JsonDict:
    frames = [_frame(sentence, *pair) for pair in zip(sentence.predicates, tags, strict=True)]
    return {"tokens": sentence.words, "frames": frames}


def _frame(sentence: _Sentence, predicate: int, tags: list[str]) -> JsonDict:
    arguments = [_argument(sentence, span) for span in spans_from_tags(tags)]
    return {"predicate": predicate, "verb": sentence.words[predicate], "tags": tags, "arguments": arguments}


def _argument(sentence: _Sentence, span: Span) -> JsonDict:
    tokens = {"token_start": span.start, "token_end": span.end}
    if sentence.text is None or sentence.offsets is None:
        return {"label": span.label, "text": " ".join(sentence.words[span.start : span.end]), **tokens}
    start, end = sentence.offsets[span.start][0], sentence.offsets[span.end - 1][1]
    return {"label": span.label, "text": sentence.text[start:end], "start": start, "end": end, **tokens}
