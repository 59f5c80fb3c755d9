"""
Raw text -> words: the tokenizers that commands, `Elmo` and adapters offer, and spaCy's
rules without a model. Needs no AllenNLP.
"""

import logging
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Union

from elmo_tasks.errors import InputError, needs, shown
from elmo_tasks.formats.text.basic_tokenizer import RULE, basic_tokens
from elmo_tasks.held_back import held_back

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc

logger = logging.getLogger(__name__)

Split = Callable[[str], list[str]]

Tokenizer = Union[str, Callable[[str], Any]]
"""
How texts are split into words: by the `basic` rule for words and punctuation (see
`basic_tokens`); at `whitespace`; by spaCy's rules for a language without a model, such
as `spacy:en`; by the tokenizer of a spaCy language; or by a function `str ->
list[str]`.
"""

WHITESPACE, BASIC, SPACY = "whitespace", "basic", "spacy:"

_PIECE = 50
_RUN = re.compile(r"\S{1001,}")
"""
A longer run without white space is split into pieces of 50 characters, since the time
of spaCy's rules is quadratic in its length.
"""

_SPACYS_PROGRAM = ("spacy.cli", "spacy.cli.info")
"""What spaCy imports for its own command line, a third of the time of its import."""


def blank_pipeline(language: str) -> "Language":
    """
    spaCy's rules for a language such as `en` or `la`, without a model, for texts of any
    length. Raises `InputError` for unknown languages, and if a package is missing.
    """
    with needs("spacy, or use the tokenizer basic"), held_back(_SPACYS_PROGRAM):
        import spacy
    try:
        nlp = spacy.blank(language)
    except ImportError as error:
        reason, _, _ = str(error).strip().partition("\n")
        raise InputError(
            f"expected a language that spaCy has rules for, got {language!r}: {reason}",
            hint="xx has rules for any language",
        ) from None
    nlp.tokenizer = _LinearTokenizer(nlp.tokenizer)
    nlp.max_length = 2**31
    return nlp


def sentence_pipeline(language: str) -> "Language":
    """`blank_pipeline` with spaCy's rules for the ends of sentences."""
    nlp = blank_pipeline(language)
    nlp.add_pipe("sentencizer")
    return nlp


def open_tokenizer(chosen: Tokenizer) -> tuple[Split, str]:
    """
    The function of a tokenizer, and its name for files of vectors. Raises `InputError`
    if `chosen` is not a tokenizer. The returned function raises it if a tokenizer
    returns something other than a list of strings.
    """
    if isinstance(chosen, str) and chosen == WHITESPACE:
        return SplitAtBlanks(), "white space"
    if isinstance(chosen, str) and chosen == BASIC:
        return basic_tokens, RULE
    if isinstance(chosen, str) and chosen.startswith(SPACY):
        language = chosen.removeprefix(SPACY)
        nlp = blank_pipeline(language)
        rules = f"spaCy {version('spacy')}, blank {language}"
        return partial(_spacy_words, nlp), rules
    if _is_spacy_language(chosen):
        model = f"{chosen.lang}_{chosen.meta.get('name', '')}"  # type: ignore[union-attr]
        return partial(_spacy_words, chosen), f"spaCy {version('spacy')}, {model}"
    if callable(chosen):
        function = getattr(chosen, "__qualname__", type(chosen).__qualname__)
        return partial(_checked_words, chosen), function
    raise InputError(
        f"tokenizer: expected {WHITESPACE}, {BASIC}, {SPACY}LANGUAGE (such as {SPACY}en), a spaCy language or a"
        f" function, got {shown(chosen)}"
    )


def _is_spacy_language(value: Any) -> bool:
    spacy = sys.modules.get("spacy.language")  # imported if there is such an object
    return spacy is not None and isinstance(value, spacy.Language)


def _spacy_words(nlp: "Language", text: str) -> list[str]:
    """The tokens of a text that are not white space."""
    return [token.text for token in nlp.tokenizer(text) if not token.is_space]


def _checked_words(function: Callable[[str], Any], text: str) -> list[str]:
    words = function(text)
    is_list = isinstance(words, list | tuple)
    if not is_list or not all(isinstance(word, str) for word in words):
        raise InputError(
            f"tokenizer: expected a function that returns a list of strings, got {shown(words)} for {shown(text)}",
            hint="for spaCy, pass the Language object itself",
        )
    return list(words)


class SplitAtBlanks:
    """
    Splits texts at white space, and warns if they seem to be raw: if the first one that
    ends in punctuation has no blank before it, such as `left.`. `advice` ends the
    warning.
    """

    def __init__(self, advice: str = "the tokenizer basic splits raw text") -> None:
        self._advice = advice
        self._is_known = False  # whether they are raw

    def __call__(self, text: str) -> list[str]:
        words = text.split()
        if words and not self._is_known:
            *before, last = basic_tokens(words[-1])
            self._is_known = not any(map(str.isalnum, last))
            if before and self._is_known:
                message = "the text seems not to be tokenised, as in %r; %s"
                logger.warning(message, words[-1], self._advice)
        return words


class _LinearTokenizer:
    """A tokenizer of spaCy, applied to each part of a text with long runs."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def __call__(self, text: str) -> "Doc":
        cuts = _cuts(text)
        if not cuts:
            return self._tokenizer(text)
        from spacy.tokens import Doc

        words: list[str] = []
        spaces: list[bool] = []
        for start, end in pairwise([0] + cuts + [len(text)]):
            for token in self._tokenizer(text[start:end]):
                words.append(token.text)
                spaces.append(bool(token.whitespace_))
        return Doc(self._tokenizer.vocab, words=words, spaces=spaces)


def _cuts(text: str) -> list[int]:
    """Where long runs are cut into pieces."""
    offsets: list[int] = []
    for run in _RUN.finditer(text):
        offsets.extend(range(run.start(), run.end(), _PIECE))
    return [offset for offset in offsets if offset]
