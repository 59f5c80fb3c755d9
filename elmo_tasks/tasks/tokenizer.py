"""Tokenizers that need no downloaded model."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from allennlp.data.tokenizers import CharacterTokenizer, Token, Tokenizer
from overrides import overrides

from elmo_tasks.formats.text.raw_text import blank_pipeline
from elmo_tasks.settings import checked

_UNSPLIT = re.compile(
    # Thai, Lao, Myanmar, Khmer, Japanese and Chinese
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{8}"
)


def is_unsplit(word: str) -> bool:
    """
    Whether a word has eight letters in a row of a script without blanks between words,
    as a clause has and hardly a word.
    """
    return not word.isascii() and _UNSPLIT.search(word) is not None


@Tokenizer.register("elmo_tasks_spacy")
class BlankSpacyTokenizer(Tokenizer):
    """
    spaCy's tokenization rules for a `language` (see `blank_pipeline`), without a model
    and without a maximum length.

    AllenNLP's `spacy` tokenizer downloads a model in its constructor, so that archives
    would not load offline. Tokens have offsets: `text[token.idx : token.idx_end] ==
    token.text`. White space is not a token.

    # Parameters

    - `language`: spaCy's code of the language, such as `en`.
    """

    @checked
    def __init__(self, language: str = "en") -> None:
        self._language = language

    @cached_property
    def _split(self) -> Callable[[str], Iterable[Any]]:
        """Text -> words; importing spaCy takes a while, and words need no splitting."""
        return blank_pipeline(self._language).tokenizer

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        """The tokens of `text`; none for white space."""
        tokens = []
        for word in self._split(text):
            if not word.is_space:
                end = word.idx + len(word.text)
                tokens.append(Token(word.text, idx=word.idx, idx_end=end))
        return tokens

    def words(self, text: str) -> list[str]:
        """The texts of the tokens."""
        return [token.ensure_text() for token in self.tokenize(text)]


class FirstCharacters(CharacterTokenizer):
    """
    The first characters of a word, for a character CNN: a batch is as wide as its
    longest word, and web text contains words of thousands of characters. The default
    `limit` is that of AllenNLP's ELMo; `marked` adds `<w>` before and `</w>` after
    them.
    """

    def __init__(self, *, limit: int = 50, marked: bool = False) -> None:
        if marked:
            super().__init__(start_tokens=["<w>"], end_tokens=["</w>"])
        else:
            super().__init__()
        self._limit = limit

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        tokens: list[Token] = super().tokenize(text[: self._limit])
        return tokens


def offsets_of(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """The first character of each token, and the one after its last."""
    return [(token.idx, token.idx_end) for token in tokens]
