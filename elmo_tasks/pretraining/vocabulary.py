"""Words -> ids of the softmax: the targets of pre-training, in the official format of `vocabulary.txt`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar

from elmo_tasks.atomic import atomic_write
from elmo_tasks.bilm.characters import BEGIN_OF_SENTENCE, END_OF_SENTENCE
from elmo_tasks.data.files import open_text
from elmo_tasks.errors import InputError

UNKNOWN_WORD = "<UNK>"

SPECIALS = (BEGIN_OF_SENTENCE, END_OF_SENTENCE, UNKNOWN_WORD)
"""The first three words of every vocabulary, in this order."""

SENTENCE_START, SENTENCE_END, UNKNOWN = range(3)
"""Ids of `SPECIALS`."""

_LINES_AT_ONCE = 4096


class WordVocabulary:
    """
    The classes of the softmax: three specials, then words by descending frequency.

    The order matters: the log-uniform sampler takes an id for a frequency rank.

    # Parameters

    words : `list[str]`
        `<S>`, `</S>`, `<UNK>`, then the words, none twice.
    counts : `list[int]`, optional
        How often each class is a target in one pass over the counted text: `<S>` (backward) and
        `</S>` (forward) once a sentence, `<UNK>` once for every token outside the vocabulary.

    # Raises

    `ValueError` where the specials are not first, a word comes twice, or lengths differ.
    """

    SENTENCE_START: ClassVar[int] = SENTENCE_START
    SENTENCE_END: ClassVar[int] = SENTENCE_END
    UNKNOWN: ClassVar[int] = UNKNOWN

    def __init__(self, words: list[str], counts: list[int] | None = None) -> None:
        self.words = words
        self.counts = counts
        self.ids = {word: id_ for id_, word in enumerate(words)}
        if tuple(words[:3]) != SPECIALS:
            raise ValueError(f"the first words must be {SPECIALS}, found {tuple(words[:3])}")
        if len(self.ids) != len(words):
            raise ValueError(f"{len(words) - len(self.ids)} of {len(words)} words come twice")
        if counts is not None and len(counts) != len(words):
            raise ValueError(f"wanted one count for each of {len(words)} words, found {len(counts)}")

    def __len__(self) -> int:
        return len(self.words)

    def id(self, word: str) -> int:
        """The word's id; 2 (`<UNK>`) for a word that is not in the vocabulary. Case matters."""
        return self.ids.get(word, UNKNOWN)

    @classmethod
    def count(
        cls,
        files: Iterable[str | Path],
        *,
        size: int | None = None,
        min_count: int | None = None,
    ) -> "WordVocabulary":
        """
        The vocabulary of a corpus: its most frequent words, ties in the order of their code points.

        # Parameters

        files : `Iterable[str | Path]`
            Plain or gzip text, a tokenised sentence a line. Streamed: memory grows with the number of
            distinct words, not with the text.
        size : `int`, optional
            How many words to keep at most, the three specials not among them.
        min_count : `int`, optional
            Keep the words seen at least so often. With neither limit every word is kept.

        # Raises

        `InputError` if both limits are given, a limit is below 1, a file is unreadable, or the files
        hold no sentence.
        """
        _check_limits(size, min_count)
        paths = list(files)
        counter, sentences = _count_words(paths)
        if not sentences:
            raise InputError(f"no sentence to count words in, {_named(paths)}", hint="check the files")
        specials = [sentences + counter.pop(SPECIALS[0], 0), sentences + counter.pop(SPECIALS[1], 0)]
        total = counter.total()
        counter.pop(UNKNOWN_WORD, None)
        kept = _most_frequent(counter, size, min_count)
        counts = [count for _, count in kept]
        return cls(
            [*SPECIALS, *(word for word, _ in kept)],
            [*specials, total - sum(counts), *counts],
        )

    @classmethod
    def from_file(cls, path: str | Path) -> "WordVocabulary":
        """
        Reads the official `vocabulary.txt`: one word a line, `<S>`, `</S>` and `<UNK>` first.

        # Raises

        `InputError` with the line, where a line is blank, holds two words or one seen before, or where
        the first three are not the specials.
        """
        line_of: dict[str, int] = {}
        for line, text in open_text(path):
            word = text.strip(" \t")
            _check_word(word, path, line, line_of.get(word))
            line_of[word] = line
        if len(line_of) < len(SPECIALS):
            wanted = SPECIALS[len(line_of)]
            raise InputError(f"{wanted} was wanted, the file ends", file=path, line=len(line_of) + 1)
        return cls(list(line_of))

    def save(self, path: str | Path) -> None:
        """
        Writes the official format, whole or not at all. Counts are not part of it.

        # Raises

        `InputError` where the file cannot be written.
        """
        with atomic_write(path) as aside, aside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{word}\n" for word in self.words)


def _check_limits(size: int | None, min_count: int | None) -> None:
    if size is not None and min_count is not None:
        problem = f"one limit of the vocabulary was wanted, found size {size} and min_count {min_count}"
        raise InputError(problem, hint="give one of them")
    for name, limit in (("size", size), ("min_count", min_count)):
        if limit is not None and limit < 1:
            raise InputError(f"the vocabulary's {name} must be 1 or more, found {limit}")


def _count_words(files: list[str | Path]) -> tuple[Counter[str], int]:
    counter: Counter[str] = Counter()
    sentences = 0
    lines = (line for file in files for _, line in open_text(file))
    for block in _blocks(filter(None, map(str.split, lines))):
        counter.update(chain.from_iterable(block))
        sentences += len(block)
    return counter, sentences


def _blocks(sentences: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    # One `update` per block: per sentence, the call itself would cost more than the counting.
    while block := list(islice(sentences, _LINES_AT_ONCE)):
        yield block


def _most_frequent(counter: Counter[str], size: int | None, min_count: int | None) -> list[tuple[str, int]]:
    frequent = [(word, count) for word, count in counter.items() if count >= (min_count or 1)]
    frequent.sort(key=lambda entry: (-entry[1], entry[0]))
    return frequent[:size]


def _named(paths: list[str | Path]) -> str:
    return f"{paths[0]} and {len(paths) - 1} more" if len(paths) > 1 else f"{paths[0]}" if paths else "no file"


def _check_word(word: str, path: str | Path, line: int, line_before: int | None) -> None:
    if not word or word.isspace():
        raise InputError("a word was wanted, this line is blank", file=path, line=line)
    if line <= len(SPECIALS) and word != SPECIALS[line - 1]:
        problem = f"{SPECIALS[line - 1]} was wanted, found {word!r}"
        hint = f"the first three lines are {', '.join(SPECIALS)}"
        raise InputError(problem, file=path, line=line, hint=hint)
    if line_before is not None:
        raise InputError(f"{word!r} is already on line {line_before}", file=path, line=line)
    if " " in word or "\t" in word:
        raise InputError(f"one word was wanted, found {word!r}", file=path, line=line)
