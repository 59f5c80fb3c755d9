"""The base class of predictors that take a sentence, as raw text or tokens."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from allennlp.data import DatasetReader
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model

from elmo_tasks.errors import InputError, shown
from elmo_tasks.tasks.json_input import JsonLinesPredictor, text_of, words_of
from elmo_tasks.tasks.tokenizer import BlankSpacyTokenizer, offsets_of

EXPECTED = '{"sentence": "raw text"} or {"tokens": ["the", "words"]}'


class Sentence(NamedTuple):
    """A sentence of T words."""

    words: list[str]
    text: str | None = None  # the raw text, if that was the input
    offsets: Sequence[tuple[int, int]] = ()  # of each word in the text, ends exclusive; empty without raw text

    def located(self, start: int, end: int) -> dict[str, Any]:
        """
        The span of words `start` to `end`, exclusive, as predictions show it: `text`, and for raw text `start` and
        `end` in characters, so that `sentence[start:end]` is `text`.
        """
        if self.text is None:
            return {"text": " ".join(self.words[start:end])}
        first, last = self.offsets[start][0], self.offsets[end - 1][1]
        return {"text": self.text[first:last], "start": first, "end": last}


class SentencePredictor(JsonLinesPredictor):
    """
    A predictor that takes `{"sentence": "raw text"}` or `{"tokens": [...]}`.

    # Parameters

    - `frozen`: whether the model is put into evaluation mode.
    - `tokenizer`: its tokens must have offsets; by default spaCy's rules for the reader's `language`, or English.
    """

    keys: tuple[str, ...] = ("sentence", "tokens")
    expected = EXPECTED
    """Describes an input, for error messages."""

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        *,
        tokenizer: Optional[Tokenizer] = None,
    ) -> None:
        super().__init__(model, dataset_reader, frozen)
        self._tokenizer = tokenizer or BlankSpacyTokenizer(getattr(dataset_reader, "language", "en"))

    def predict(self, sentence: str) -> dict[str, Any]:
        """The output for one sentence of raw text."""
        return self.predict_json({"sentence": sentence})

    def read(self, json_dict: Any) -> Sentence:
        """Raises `InputError` if it is not an object with either a valid sentence or valid tokens."""
        if not isinstance(json_dict, dict) or ("sentence" in json_dict) == ("tokens" in json_dict):
            raise InputError(f"expected {self.expected}, got {shown(json_dict)}")
        if "tokens" in json_dict:
            return Sentence(words_of(json_dict["tokens"], "'tokens'"))
        text = text_of(json_dict, "sentence", expected=self.expected)
        tokens = self._tokenizer.tokenize(text)
        return Sentence([token.ensure_text() for token in tokens], text, offsets_of(tokens))
