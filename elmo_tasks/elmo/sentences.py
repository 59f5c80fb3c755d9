"""What users give as sentences: lists of words, or texts that a tokenizer splits."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.fasta import Protein
from elmo_tasks.formats.raw_text import (
    Split,
    Tokenizer,
    end_of_text,
    is_list_of_words,
    open_tokenizer,
)

logger = logging.getLogger(__name__)

Sentences = Iterable[str | Sequence[str]]
"""Lists of words, or texts, which a tokenizer splits into words."""

_NO_LISTS = (str, bytes, Mapping, set, frozenset)
"""What has parts, and is no list of sentences or words."""

_SAMPLED_LINES = 1000

_ADVICE = "tokenizer='basic', an argument of Elmo and its methods, splits raw text"


def checked_sentences(sentences: Sentences) -> list[Any]:
    """Lists of words, or texts. Raises `InputError` for something else."""
    require_several(sentences)
    return list(each_checked(sentences))


def require_several(sentences: Any) -> None:
    """
    Raises `InputError` if the argument is a single sentence, or not a list of
    sentences.
    """
    if _parts(sentences) is None:
        raise InputError(
            f"expected a list of sentences, got {shown(sentences)}",
            hint="put it into a list",
        )


def each_checked(sentences: Sentences) -> Iterator[Any]:
    """
    Each list of words or text, when it is asked for. Raises `InputError` for something
    else.
    """
    for number, one in enumerate(sentences, start=1):
        words = one if isinstance(one, str) else word_list(one)
        if words is None:
            problem = "expected a string or a list of words"
            raise InputError(f"sentence {number}: {problem}, got {shown(one)}")
        yield words


def _parts(value: Any) -> Iterator[Any] | None:
    """Those of a list or a stream; `None` for something else."""
    if isinstance(value, _NO_LISTS):
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
    for word in words:
        if not isinstance(word, str):
            return None
    return words


class Splitter:
    """
    Splits sentences into words by a tokenizer, or by another one that a call names. A
    tokenizer is opened once, so that it knows what it has reported.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._opened: dict[str, tuple[Split, str]] = {}
        self._default = self.opened(tokenizer)
        self._warned_of_words = False

    def opened(self, tokenizer: Tokenizer | None) -> tuple[Split, str]:
        """
        The function and the name of a tokenizer, by default that of the constructor.
        """
        if tokenizer is None:
            return self._default
        if not isinstance(tokenizer, str):
            return open_tokenizer(tokenizer, advice=_ADVICE)
        if tokenizer not in self._opened:
            self._opened[tokenizer] = open_tokenizer(tokenizer, advice=_ADVICE)
        return self._opened[tokenizer]

    def words_of_each(
        self, sentences: list[Any], tokenizer: Tokenizer | None
    ) -> list[list[str]]:
        """The words of lists of words, or of texts."""
        split, _ = self.opened(tokenizer)
        words = [words_of(one, split) for one in sentences]
        end_of_text(split)
        return words

    def words_of_stream(
        self, sentences: Iterable[Any], split: Split
    ) -> Iterator[list[str]]:
        """
        The words of each of any number of sentences, when it is asked for. Warnings
        come after the first ones, or at the end.
        """
        first: list[Any] = []
        for sentence in sentences:
            if len(first) < _SAMPLED_LINES:
                first.append(sentence)
                if len(first) == _SAMPLED_LINES:
                    self.warn_of_words(first)
            yield words_of(sentence, split)
        self.warn_of_words(first)
        end_of_text(split)

    def warn_of_words(self, sentences: list[Any]) -> None:
        """
        Warn once of `embed(["It", "ended", "."])`, the call of AllenNLP's
        `embed_sentence`.
        """
        if self._warned_of_words or not are_words_of_one(sentences):
            return
        self._warned_of_words = True
        logger.warning(
            "expected sentences, got texts of one word each, such as %r, which are embedded as %d sentences; for "
            "the words of one sentence write elmo.embed([words]), for sentences of one word [[word], [word], ...]",
            sentences[0],
            len(sentences),
        )


def words_of(sentence: str | Sequence[str], split: Split) -> list[str]:
    """The words of a list of words, or of a text."""
    return split(sentence) if isinstance(sentence, str) else list(sentence)


def are_words_of_one(sentences: list[Any]) -> bool:
    """
    Whether sentences are texts of one word each, as in `embed(["It", "ended", "."])`.
    """
    for sentence in sentences:
        if not isinstance(sentence, str):
            return False
    return is_list_of_words(sentences)


def until_the_end(
    lines: Iterable[tuple[int, str | Protein]], split: Split
) -> Iterator[tuple[int, str | Protein]]:
    """The numbered lines of a whole text, for which warnings are due at its end."""
    first: list[str] = []
    for number, line in lines:
        if isinstance(line, str) and len(first) < _SAMPLED_LINES and line.strip():
            first.append(line.strip())
        yield number, line
    end_of_text(split)
    if is_list_of_words(first):
        logger.warning(
            "each line has only one word, such as %r; expected one sentence per line",
            first[0],
        )
