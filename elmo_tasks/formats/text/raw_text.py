"""
Raw text -> words: the tokenizers that commands, `Elmo` and adapters offer, and spaCy's
rules without a model. Needs no AllenNLP.
"""

import json
import logging
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Union
from unicodedata import name

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

_SPACYS_PROGRAM = ("spacy.cli", "spacy.cli.info")
"""What spaCy imports for its own command line, a third of the time of its import."""

_UNKNOWN_LANGUAGE = "E048"  # in spaCy's error

LONGEST_RUN = 1000
"""
Characters without white space that are split by rules; those of a longer run are split
into pieces first.
"""

_PIECE = 50
_SAMPLED_TEXTS = 1000
_SCRIPTS_WITHOUT_BLANKS = (
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "TIBETAN",
)
_RUN = re.compile(rf"\S{{{LONGEST_RUN + 1},}}")


def known_language(language: str) -> str:
    """Raises `ValueError` for a language that spaCy, if there is one, does not know."""
    if language == "en" or find_spec("spacy") is None:
        return language  # without the time that importing spaCy takes
    with held_back(_SPACYS_PROGRAM):
        import spacy
    try:
        spacy.blank(language)
    except ImportError as error:
        missing = _missing_package(error)
        expected = "a language that spaCy has rules for, such as en, la or xx"
        if missing is not None:
            expected = f"a language whose packages are installed ({missing})"
        raise ValueError(expected) from None
    return language


def _missing_package(error: ImportError) -> str | None:
    """
    What spaCy says of a package that its rules need; `None` if it has no rules for a
    language.
    """
    said = str(error).strip()
    if _UNKNOWN_LANGUAGE in said:
        return None
    return said.partition("\n")[0]


def blank_pipeline(language: str) -> "Language":
    """
    spaCy's rules for a language such as `en` or `la`, without a model, for texts of any
    length.

    A run of more than 1,000 characters without white space is split into pieces of 50,
    since the time of the rules is quadratic in its length.

    Raises `InputError` for unknown languages.
    """
    with needs("spacy, or use the tokenizer basic"), held_back(_SPACYS_PROGRAM):
        import spacy
    try:
        nlp = spacy.blank(language)
    except ImportError as error:
        missing = _missing_package(error)
        if missing is not None:
            problem = f"spaCy's rules for {language!r} need a package"
            raise InputError(f"{problem}: {missing}") from None
        hint = (
            "xx has rules for any language; or split the text yourself: one sentence per"
            " line, words separated by blanks"
        )
        raise InputError(
            f"expected a language that spaCy has rules for, got {language!r}", hint=hint
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
    if isinstance(chosen, JsonLines):
        return chosen, "JSON"
    if isinstance(chosen, SplitAtBlanks):
        return chosen, "white space"
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
    if not isinstance(words, list | tuple) or not _are_strings(words):
        raise InputError(
            f"tokenizer: expected a function that returns a list of strings, got {shown(words)} for {shown(text)}",
            hint="for spaCy, pass the Language object itself",
        )
    return list(words)


def _are_strings(values: Sequence[Any]) -> bool:
    for value in values:
        if not isinstance(value, str):
            return False
    return True


class SplitAtBlanks:
    """
    Splits texts at white space, and warns once if most of the first thousand seem to be
    raw: if the basic rule takes punctuation off their last word, such as `left.`.
    `advice` ends the warning.
    """

    def __init__(self, advice: str = "the tokenizer basic splits raw text") -> None:
        self._advice = advice
        self._texts = 0
        self._raw: list[str] = []  # last words

    def __call__(self, text: str) -> list[str]:
        words = text.split()
        if words and self._texts < _SAMPLED_TEXTS:
            self._texts += 1
            tokens = basic_tokens(words[-1])
            if len(tokens) > 1 and not tokens[-1].isalnum():
                self._raw.append(words[-1])
            if self._texts == _SAMPLED_TEXTS:
                self.end_of_text()
        return words

    def end_of_text(self) -> None:
        if 2 * len(self._raw) <= self._texts:
            return
        logger.warning(
            "the text seems not to be tokenised: %d of %d lines end in punctuation without a blank, such as %r; %s",
            len(self._raw),
            self._texts,
            self._raw[-1],
            self._advice,
        )
        self._raw = []
        self._texts = _SAMPLED_TEXTS  # once


def is_without_blanks(character: str) -> bool:
    """Whether a character is of a script that has no blanks between words."""
    return name(character, "").startswith(_SCRIPTS_WITHOUT_BLANKS)


def line_parser(
    input_format: str, tokenizer: str | None = None, column: str = "tokens"
) -> tuple[Split, str]:
    """
    The function that splits a line into tokens, which raises `InputError` for an
    invalid one, and its name.

    `input_format` is `tokens`, between white space; raw `text`, by default for spaCy's
    English rules; or `json`: a list of tokens, or an object whose `column` is such a
    list or a text. `tokenizer` names another rule for texts.
    """
    default = WHITESPACE
    if input_format == "text":
        default = f"{SPACY}en"
    split, recorded = open_tokenizer(tokenizer or default)
    if input_format != "json":
        return split, recorded
    if tokenizer is None:
        return JsonLines(column, split), "JSON"
    return JsonLines(column, split), f"JSON, {recorded}"


class BlankWarning:
    """
    Warns once of a word with blanks inside, which is mostly a text that was given as
    one of a list of words.
    """

    def __init__(self) -> None:
        self._warned = False

    def __call__(self, words: Sequence[str]) -> None:
        if self._warned:
            return
        for word in words:
            if len(word.split()) > 1:
                self._warned = True
                logger.warning(
                    "expected a list of words, got a text with blanks in it, such as %r, which is read as one word; for"
                    " a tokenizer to split it, give the text by itself, not in a list",
                    word,
                )
                return


class JsonLines:
    """
    Reads lines of JSON: lists of tokens, or objects in whose `column` there are tokens,
    or text for `split`.
    """

    def __init__(self, column: str, split: Split) -> None:
        self._column = column
        self._split = split
        self._warn_of_blanks = BlankWarning()

    def __call__(self, line: str) -> list[str]:
        if not line.strip():
            return []
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        tokens = value
        if isinstance(value, dict):
            tokens = value.get(self._column)
            if isinstance(tokens, str):
                return self._split(tokens)
        is_valid = isinstance(tokens, list) and _are_strings(tokens)
        if not is_valid or "" in tokens:
            raise InputError(
                f"expected a JSON list of tokens, or an object with {self._column!r}, got {shown(line)}"
            )
        self._warn_of_blanks(tokens)
        return tokens

    def end_of_text(self) -> None:
        end_of_text(self._split)


def end_of_text(split: Split) -> None:
    """
    Call this after the last text, so the warning about raw text also comes if there was
    only one sentence.
    """
    end = getattr(split, "end_of_text", None)
    if end is not None:
        end()


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
