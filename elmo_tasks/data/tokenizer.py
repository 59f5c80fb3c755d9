"""Raw text to tokens, without a model to download."""

from typing import Any

import spacy
from allennlp.data.tokenizers import Token, Tokenizer


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
