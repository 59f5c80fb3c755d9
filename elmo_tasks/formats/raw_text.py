"""spaCy's rules for raw text, without a model; needs no AllenNLP."""

import json
import logging
import re
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from elmo_tasks.errors import InputError, needs, shown

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc

logger = logging.getLogger(__name__)

LONGEST_RUN = 1000
"""Characters without white space that are split by rules; those of a longer run are split into pieces first."""

_PIECE = 50
_SAMPLED_LINES, _FEW, _ATTACHED_SHARE = 1000, 3, 0.03
_ATTACHED, _LAST = re.compile(r"\w{2,}[,;:?!،؛؟]"), re.compile(r"\w{2,}\.")
_RUN = re.compile(rf"\S{{{LONGEST_RUN + 1},}}")


def expected_language(language: str) -> str | None:
    """What is expected in place of a language that spaCy does not know."""
    if language == "en":
        return None  # without the time that importing spaCy takes
    with needs("spacy"):
        import spacy
    try:
        spacy.blank(language)
    except ImportError:
        return "a language that spaCy has rules for, such as en, la or xx"
    return None


def blank_pipeline(language: str) -> "Language":
    """
    spaCy's rules for a language such as `en` or `la`, without a model, for texts of any length.

    A run of more than 1,000 characters without white space is split into pieces of 50, since the time of the rules is
    quadratic in its length.

    Raises `InputError` for unknown languages.
    """
    with needs("spacy, or use --input-format tokens"):
        import spacy
    try:
        nlp = spacy.blank(language)
    except ImportError:
        hint = "xx has rules for any language; or split the text yourself, a sentence a line, words between blanks"
        raise InputError(
            f"expected a language that spaCy has rules for, got {language!r}", hint=hint
        ) from None
    nlp.tokenizer, nlp.max_length = _LinearTokenizer(nlp.tokenizer), 2**31
    return nlp


def sentence_pipeline(language: str) -> "Language":
    """`blank_pipeline` with spaCy's rules for the ends of sentences."""
    nlp = blank_pipeline(language)
    nlp.add_pipe("sentencizer")
    return nlp


def split_at_blanks(option: str) -> Callable[[str], list[str]]:
    """`str.split`, which warns once if punctuation is attached to words in the first lines; `option` avoids that."""
    lines = tokens = attached = 0

    def split(line: str) -> list[str]:
        nonlocal lines, tokens, attached
        words = line.split()
        if lines < _SAMPLED_LINES:
            lines, tokens = lines + 1, tokens + len(words)
            attached += sum(1 for word in words if _ATTACHED.fullmatch(word))
            attached += bool(words and _LAST.fullmatch(words[-1]))
            if attached >= _FEW and attached > _ATTACHED_SHARE * tokens:
                lines = _SAMPLED_LINES
                share = f"{attached:,} of {tokens:,} tokens end in punctuation"
                logger.warning(
                    "the text seems not to be tokenised: %s, such as %r; %s",
                    share,
                    words[-1],
                    option,
                )
        return words

    return split


def line_parser(
    input_format: str, column: str = "tokens"
) -> tuple[Callable[[str], list[str]], str]:
    """
    The function that splits a line into tokens, which raises `InputError` for an invalid one, and its name.

    `input_format` is `tokens` between white space, raw `text` for spaCy's English rules, or `json`: a list of tokens,
    or an object whose `column` is such a list, or text with white space between tokens.
    """
    if input_format == "text":
        tokenizer = blank_pipeline("en").tokenizer
        name = f"spaCy {version('spacy')}, blank English"
        return lambda line: [
            token.text for token in tokenizer(line) if not token.is_space
        ], name
    if input_format == "json":
        return partial(_tokens_of_json, column=column), "JSON"
    return split_at_blanks("--input-format text splits raw text"), "white space"


def _tokens_of_json(line: str, *, column: str) -> list[str]:
    if not line.strip():
        return []
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    tokens = value.get(column) if isinstance(value, dict) else value
    if isinstance(value, dict) and isinstance(tokens, str):
        return tokens.split()
    if not isinstance(tokens, list) or not all(
        isinstance(token, str) and token for token in tokens
    ):
        raise InputError(
            f"expected a JSON list of tokens, or an object with {column!r}, got {shown(line)}"
        )
    return tokens


class _LinearTokenizer:
    """A tokenizer of spaCy, applied to each part of a text with long runs."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def __call__(self, text: str) -> "Doc":
        cuts = [0, *_cuts(text), len(text)]
        if len(cuts) == 2:
            return self._tokenizer(text)
        from spacy.tokens import Doc

        tokens = [
            token
            for start, end in pairwise(cuts)
            for token in self._tokenizer(text[start:end])
        ]
        words, spaces = (
            [token.text for token in tokens],
            [bool(token.whitespace_) for token in tokens],
        )
        return Doc(self._tokenizer.vocab, words=words, spaces=spaces)


def _cuts(text: str) -> list[int]:
    """The places between the pieces of long runs."""
    return [
        place
        for run in _RUN.finditer(text)
        for place in range(run.start(), run.end(), _PIECE)
        if place
    ]
