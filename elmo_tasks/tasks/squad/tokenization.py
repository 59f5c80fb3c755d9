"""
Tokenization after Clark and Gardner (2017), on whose model appendix A.4 builds: words
are also split at dashes, slashes, quotation marks, currency signs and the like, so that
an answer rarely ends inside a token. Their code also splits contractions at the
apostrophe (`n ' t`); here they stay whole, because word vectors have them.
"""

import re
from collections.abc import Iterator

from allennlp.data.tokenizers import Token, Tokenizer
from overrides import overrides

from elmo_tasks.settings import checked
from elmo_tasks.tasks.tokenizer import BlankSpacyTokenizer

_CONTRACTION = re.compile(r"n['’]t|['’](?:s|d|m|ll|re|ve)", re.IGNORECASE)
_SPLIT = re.compile(r"((?<=[^_])_(?=[^_])|[-£€¥¢₹\u2212\u2014\u2013/~\"'’”‘°])")
_REPLACED = {"\u2212": "-", "\u2014": "\u2013"}


@Tokenizer.register("elmo_tasks_squad")
class SquadTokenizer(Tokenizer):
    """
    spaCy's rules for a `language`, and splits around `- £ € ¥ ¢ ₹ − — – / ~ " ' ’ ” ‘ °` and
    inside `a_b`; contractions such as `'s` and `n't` are one token. A minus sign is
    replaced by a hyphen, an em dash by an en dash; offsets refer to the original text:
    `text[token.idx : token.idx_end]`.

    # Parameters

    - `language`: spaCy's code of the language, such as `en`.
    """

    @checked
    def __init__(self, language: str = "en") -> None:
        self._words = BlankSpacyTokenizer(language)

    @overrides
    def tokenize(self, text: str) -> list[Token]:
        """The tokens of `text`; none for white space."""
        tokens: list[Token] = []
        for word in self._words.tokenize(text):
            tokens.extend(_parts(word))
        return tokens


def _parts(word: Token) -> Iterator[Token]:
    text = word.ensure_text()
    offset = word.idx
    if _CONTRACTION.fullmatch(text):
        yield word
        return
    for part in filter(None, _SPLIT.split(text)):
        yield Token(_REPLACED.get(part, part), idx=offset, idx_end=offset + len(part))
        offset += len(part)
