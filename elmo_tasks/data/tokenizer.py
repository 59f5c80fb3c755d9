"""Raw text to tokens, without a model to download, and words to characters."""

from typing import Any

import spacy
from allennlp.data.tokenizers import CharacterTokenizer, Token, Tokenizer


@Tokenizer.register("elmo_tasks_spacy")
class BlankSpacyTokenizer(Tokenizer):
    """
    spaCy's rules for English and nothing else: no tags, no parse, no download, no limit on the
    length of a text.

    AllenNLP's `spacy` tokenizer fetches a model in its constructor, so that loading an archive
    fails without a network. Tokens carry the place of their characters, `text[token.idx :
    token.idx_end] == token.text`; white space is never a token.
    """

    def __init__(self) -> None:
        self._tokenizer = spacy.blank("en").tokenizer

    def tokenize(self, text: str) -> list[Token]:
        """The tokens of `text` in their order, an empty list for white space alone."""
        return [
            Token(token.text, idx=token.idx, idx_end=token.idx + len(token.text))
            for token in self._tokenizer(text)
            if not token.is_space
        ]

    def _to_params(self) -> dict[str, Any]:
        return {"type": "elmo_tasks_spacy"}


class FirstCharacters(CharacterTokenizer):
    """
    A word's first characters, for a character CNN: a batch is as wide as its longest word, and texts of the web hold
    words of thousands.

    # Parameters

    limit : `int`, optional
        How many; by default as many as AllenNLP's ELMo reads of a word.
    marked : `bool`
        Whether `<w>` stands before them and `</w>` behind.
    """

    def __init__(self, *, limit: int = 50, marked: bool = False) -> None:
        super().__init__(start_tokens=["<w>"] if marked else None, end_tokens=["</w>"] if marked else None)
        self._limit = limit

    def tokenize(self, text: str) -> list[Token]:
        """A token for each of the characters kept."""
        tokens: list[Token] = super().tokenize(text[: self._limit])
        return tokens
