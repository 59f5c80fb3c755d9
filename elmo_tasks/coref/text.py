"""Raw text -> sentences of tokens, by rules only: nothing is downloaded."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Token


class SentenceSplitter:
    """
    spaCy's rules for English tokens and sentences, for texts of any length. White space is not a token, and a blank
    line ends a sentence.
    """

    def __init__(self) -> None:
        import spacy
        from spacy.pipeline import Sentencizer

        self._tokenizer = spacy.blank("en").tokenizer
        self._sentencizer = Sentencizer()

    def sentences(self, text: str) -> "list[list[Token]]":
        """The sentences of a text, none of which is empty."""
        sentences: list[list[Token]] = [[]]
        for token in self._sentencizer(self._tokenizer(text)):
            if token.is_sent_start or (token.is_space and token.text.count("\n") > 1):
                sentences.append([])
            if not token.is_space:
                sentences[-1].append(token)
        return [sentence for sentence in sentences if sentence]
