"""What the predictors of sentences share: raw text or tokens in."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from allennlp.data import DatasetReader, Token
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model

from elmo_tasks.data.tokenizer import BlankSpacyTokenizer
from elmo_tasks.errors import InputError, shown
from elmo_tasks.prediction.json_input import JsonLinesPredictor, text_of, words_of

WANTED = 'wanted {"sentence": "raw text"} or {"tokens": ["the", "words"]}'


class Sentence(NamedTuple):
    """
    An input.

    # Parameters

    words : `list[str]`
        T words.
    text : `str`, optional
        The raw text, if it was that.
    offsets : `Sequence[tuple[int, int]]`
        T words' first character in it, and the one behind the last; empty without raw text.
    """

    words: list[str]
    text: str | None = None
    offsets: Sequence[tuple[int, int]] = ()

    def located(self, start: int, end: int) -> dict[str, Any]:
        """
        Words `start` to `end`, the last not included, as predictions show them: `text`, and for raw text `start` and
        `end`, so that `sentence[start:end]` is `text`.
        """
        if self.text is None:
            return {"text": " ".join(self.words[start:end])}
        first, last = self.offsets[start][0], self.offsets[end - 1][1]
        return {"text": self.text[first:last], "start": first, "end": last}


class SentencePredictor(JsonLinesPredictor):
    """
    A predictor that takes `{"sentence": "raw text"}` or `{"tokens": [...]}`.

    # Parameters

    model : `Model`
    dataset_reader : `DatasetReader`
    frozen : `bool`
        Whether the model is put into evaluation mode.
    tokenizer : `Tokenizer`, optional
        Cuts raw text into tokens that know their offset; by default spaCy's rules for English.
    """

    keys: tuple[str, ...] = ("sentence", "tokens")
    wanted = WANTED
    """How an input looks, for the messages."""

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

    def predict(self, sentence: str) -> dict[str, Any]:
        """Runs the model on one sentence of raw text."""
        return self.predict_json({"sentence": sentence})

    def predict_tokens(self, tokens: Sequence[str]) -> dict[str, Any]:
        """Runs the model on one sentence that is cut into words already."""
        return self.predict_json({"tokens": list(tokens)})

    def read(self, json_dict: Any) -> Sentence:
        """
        # Raises

        `InputError`
            If it is not an object with either a sentence or tokens, or if that is empty or of another type.
        """
        if not isinstance(json_dict, dict):
            raise InputError(f"{self.wanted}; found {shown(json_dict)}")
        if ("sentence" in json_dict) == ("tokens" in json_dict):
            which = "both" if "sentence" in json_dict else f"neither, but {sorted(json_dict)}"
            raise InputError(f"{self.wanted}; found {which}")
        if "tokens" in json_dict:
            return Sentence(words_of(json_dict["tokens"], "'tokens'"))
        text = text_of(json_dict, "sentence", wanted=self.wanted)
        tokens = self._tokenizer.tokenize(text)
        return Sentence([token.ensure_text() for token in tokens], text, [_offsets(token) for token in tokens])


def _offsets(token: Token) -> tuple[int, int]:
    if token.idx is None or token.text is None:
        hint = "the default tokenizer does"
        raise InputError("the tokenizer must tell the offset of each token", hint=hint)
    return token.idx, token.idx + len(token.text)
