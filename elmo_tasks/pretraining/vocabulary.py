"""
Words -> ids of the softmax: the targets of pre-training, in the official format of
`vocabulary.txt`.
"""

import logging
from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from pydantic import SkipValidation

from elmo_tasks.bilm.characters import (
    BEGIN_OF_SENTENCE,
    END_OF_SENTENCE,
    MAX_CHARACTERS,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.marks import Marks
from elmo_tasks.formats.text.text_files import MARK, open_text
from elmo_tasks.settings import Size, checked
from elmo_tasks.system.files import write_text

logger = logging.getLogger(__name__)

UNKNOWN_WORD = "<UNK>"

LONGEST_WORD = MAX_CHARACTERS - 2
"""Bytes of the longest word that is not truncated: begin and end take a slot each."""

TRUNCATED = 0.001
"""A larger share of truncated words is worth a warning."""

SPECIALS = (BEGIN_OF_SENTENCE, END_OF_SENTENCE, UNKNOWN_WORD)
"""The first three words of every vocabulary, in this order."""

UNKNOWN = SPECIALS.index(UNKNOWN_WORD)


class WordVocabulary:
    """
    The classes of the softmax: three special tokens, then words by descending
    frequency.

    The order matters: the log-uniform sampler takes an id for a frequency rank. Raises
    `ValueError` if the special tokens (`<S>`, `</S>`, `<UNK>`) are not first or a word
    is repeated.
    """

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.ids = {word: number for number, word in enumerate(words)}
        first = tuple(words[: len(SPECIALS)])
        if first != SPECIALS:
            raise ValueError(f"expected the first words to be {SPECIALS}, got {first}")
        duplicates = len(words) - len(self.ids)
        if duplicates:
            raise ValueError(f"expected distinct words, got {duplicates} duplicates")

    def __len__(self) -> int:
        return len(self.words)

    def id(self, word: str) -> int:
        """The word's id, 2 (`<UNK>`) for an unknown word. Case matters."""
        return self.ids.get(word, UNKNOWN)

    @cached_property
    def marks(self) -> Marks:
        """The typographic marks that the words lack."""
        return Marks(self.words)

    @classmethod
    @checked
    def count(
        cls,
        files: SkipValidation[Iterable[str | Path]],
        *,
        size: Size | None = None,
        min_count: Size | None = None,
    ) -> "WordVocabulary":
        """
        The vocabulary of plain or gzip text, one tokenized sentence per line: its most
        frequent words besides the special tokens, at most `size` or those with a
        frequency of at least `min_count`; ties in code point order. Words that begin
        with a byte order mark are left out, which `from_file` would reject. Memory
        grows with the number of distinct words only. Raises `InputError` if both limits
        are given, a file is unreadable, or there is no word.
        """
        if size is not None and min_count is not None:
            raise InputError(
                "expected size or min_count of the vocabulary, "
                f"got both ({size} and {min_count})"
            )
        counts = _counted(list(files))
        _report_truncated(counts)
        frequent = []
        for word, count in counts.items():
            is_usual = word not in SPECIALS and not word.startswith(MARK)
            if is_usual and count >= (min_count or 1):
                frequent.append((-count, word))
        frequent.sort()
        return cls(list(SPECIALS) + [word for _, word in frequent[:size]])

    @classmethod
    def from_file(cls, path: str | Path) -> "WordVocabulary":
        """
        Read the official `vocabulary.txt`: one word per line, `<S>`, `</S>` and `<UNK>`
        first. Raises `InputError` with the line if it is something else. Blank lines at
        the end are ignored.
        """
        line_of: dict[str, int] = {}
        blank = 0  # the first of the blank lines read so far, which may end the file
        for line, text in open_text(path, keep_marks=True):
            word = text.strip(" \t")
            if not word:
                blank = blank or line
                continue
            if blank:
                raise InputError("expected one word, got ''", file=path, line=blank)
            problem = _problem(word, line, line_of)
            if problem is not None:
                raise InputError(problem, file=path, line=line)
            line_of[word] = line
        if len(line_of) < len(SPECIALS):
            problem = f"expected {SPECIALS[len(line_of)]}, got the end of the file"
            raise InputError(problem, file=path, line=len(line_of) + 1)
        return cls(list(line_of))

    def save(self, path: str | Path) -> None:
        """Write the official `vocabulary.txt`, a word a line."""
        write_text(path, "".join([f"{word}\n" for word in self.words]))


def _counted(paths: list[str | Path]) -> Counter[str]:
    """How often each word is in these texts. Raises `InputError` if there is none."""
    counts: Counter[str] = Counter()
    for path in paths:
        for _, line in open_text(path):
            counts.update(line.split())
    if not counts:
        first = paths[0] if paths else None
        raise InputError("no sentence to count words in", file=first)
    return counts


def _report_truncated(counts: Counter[str]) -> None:
    """Log the share of the words that the character encoder truncates."""
    truncated = 0
    for word, count in counts.items():
        if len(word.encode("utf-8", "ignore")) > LONGEST_WORD:
            truncated += count
    share = truncated / counts.total()
    level = logging.INFO if share < TRUNCATED else logging.WARNING
    logger.log(
        level,
        "%.2f %% of the words have more than %d bytes; "
        "a larger max_characters_per_token reads them whole",
        100 * share,
        LONGEST_WORD,
    )


def _problem(word: str, line: int, line_of: dict[str, int]) -> str | None:
    """What is wrong with the word on a line; `None` if nothing is."""
    if line <= len(SPECIALS) and word != SPECIALS[line - 1]:
        return (
            f"expected {SPECIALS[line - 1]}, got {word!r}: "
            f"the first three lines are {', '.join(SPECIALS)}"
        )
    if len(word.split()) != 1:
        return f"expected one word, got {word!r}"
    if word.startswith(MARK):
        return f"expected a word, got a byte order mark before it: {word!r:.60}"
    if word in line_of:
        return f"{word!r} is already on line {line_of[word]}"
    return None
