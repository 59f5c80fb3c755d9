"""What users give as sentences: lists of words, or texts that a tokenizer splits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import SkipValidation

from elmo_tasks.elmo.batching import Line
from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.marks import Folding
from elmo_tasks.formats.text.raw_text import (
    Split,
    Tokenizer,
    open_tokenizer,
)

Sentences = SkipValidation[Iterable[str | Sequence[str]]]
"""Lists of words, or texts, which a tokenizer splits into words."""

_NO_LISTS = (str, bytes, Mapping, set, frozenset)
"""What has parts, and is no list of sentences or words."""

_CHOOSE = (
    'choose the column of texts: frame["text"], array[:, 0]; in a ColumnTransformer'
    ' "text", not ["text"]'
)


def _each_split(sentences: Iterator[Any], split: Split) -> Iterator[list[str]]:
    """
    The words of each text or list of words, when it is asked for. Raises `InputError`
    for something else.
    """
    for number, one in enumerate(sentences, start=1):
        words = split(one) if isinstance(one, str) else word_list(one)
        if words is None:
            problem = "expected a string or a list of words"
            raise InputError(f"sentence {number}: {problem}, got {shown(one)}")
        yield words


def _has_columns(value: Any) -> bool:
    """
    Whether a value has columns by name or several dimensions. A DataFrame, a table of
    Arrow or Hugging Face, a matrix and a dict do; a column of them does not.
    """
    shape = getattr(value, "shape", ())
    is_matrix = isinstance(shape, tuple) and len(shape) > 1
    has_fields = getattr(getattr(value, "dtype", None), "names", None) is not None
    has_names = isinstance(value, Mapping) or hasattr(value, "columns")
    return is_matrix or has_fields or has_names


def _parts(value: Any) -> Iterator[Any] | None:
    """Those of a list or a stream; `None` for something else."""
    if isinstance(value, _NO_LISTS) or _has_columns(value):
        return None
    try:
        return iter(value)
    except TypeError:  # also of an array or a tensor of one number
        return None


def word_list(value: Any) -> list[str] | None:
    """The words of a list of words; `None` for something else."""
    parts = _parts(value)
    if parts is None:
        return None
    words = list(parts)
    if all(isinstance(word, str) for word in words):
        return words
    return None


class Splitter:
    """
    The one way of sentences into words, for all methods that take sentences: checks
    them, and splits texts by a tokenizer, or by another one that a call names. A
    tokenizer is opened once, so that it knows what it has reported.

    # Parameters

    - `folding`: makes the marks of a text plain before it is split.
    """

    def __init__(self, tokenizer: Tokenizer, *, folding: Folding | None = None) -> None:
        self._folding = folding
        self._opened: dict[str, tuple[Split, str]] = {}
        self._default = self.opened(tokenizer)

    def opened(self, tokenizer: Tokenizer | None) -> tuple[Split, str]:
        """
        The function and the name of a tokenizer, by default that of the constructor.
        """
        if tokenizer is None:
            return self._default
        if not isinstance(tokenizer, str):
            return self._open(tokenizer)
        if tokenizer not in self._opened:
            self._opened[tokenizer] = self._open(tokenizer)
        return self._opened[tokenizer]

    def _open(self, tokenizer: Tokenizer) -> tuple[Split, str]:
        split, name = open_tokenizer(tokenizer)
        folding = self._folding
        if folding is None:
            return split, name
        return lambda text: split(folding.plain_text(text)), name

    def words(
        self, sentences: Sentences, tokenizer: Tokenizer | None
    ) -> list[list[str]]:
        """The words of each sentence. Raises `InputError` as `stream` does."""
        return list(self.stream(sentences, tokenizer))

    def stream(
        self, sentences: Sentences, tokenizer: Tokenizer | None
    ) -> Iterator[list[str]]:
        """
        The words of each of any number of sentences, when it is asked for. Raises
        `InputError` at once if the tokenizer is invalid or there is no list of
        sentences, and later for an invalid sentence.
        """
        split, _ = self.opened(tokenizer)
        parts = _parts(sentences)
        if parts is None:
            hint = _CHOOSE if _has_columns(sentences) else "put it into a list"
            problem = f"expected a list of sentences, got {shown(sentences)}"
            raise InputError(problem, hint=hint)
        return _each_split(parts, split)


def words_of(sentence: str | Sequence[str], split: Split) -> list[str]:
    """The words of a list of words, or of a text."""
    return split(sentence) if isinstance(sentence, str) else list(sentence)


def numbered(lines: Any) -> Iterator[tuple[int, Line]]:
    """The numbered lines of a text. Raises `InputError` for lines without numbers."""
    parts = _parts(lines)
    if parts is None:
        parts = iter([lines])  # what is no list is no line either
    for line in parts:
        if not isinstance(line, tuple) or len(line) != 2:
            raise InputError(
                f"expected lines with their numbers, got {shown(line)}",
                hint="write enumerate(texts, start=1)",
            )
        yield line
