"""The words of a corpus, as arrays for random access, and a check that two corpora are not the same."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.senses import read_senses
from elmo_tasks.formats.text_files import not_empty, open_text

MAX_SHARED = 0.5
"""Two samples of the same kind of text share a few short sentences, never most of them."""


def read_corpus(file: str | Path) -> Iterator[list[str]]:
    """
    The words of each sentence of a text with one tokenized sentence per line, plain or gzip; or, if the file name ends
    in `.xml`, of a word-sense corpus.

    Raises `InputError` as `open_text` and `read_senses` do; at the end, if there is no sentence.
    """
    if Path(file).suffix == ".xml":
        yield from (sentence.words for sentence in read_senses(file))
        return
    sentences = (words for _, line in open_text(file) if (words := line.split()))
    yield from not_empty(sentences, "expected one tokenized sentence per line, got none", file)


class CorpusText:
    """N tokens in S sentences, in 4 bytes for each token, and the types."""

    def __init__(self, sentences: Iterable[list[str]]) -> None:
        self._type_of: dict[str, int] = {}
        types, starts = array("I"), array("q", [0])
        for words in sentences:
            types.extend(self._type_of.setdefault(word, len(self._type_of)) for word in words)
            starts.append(len(types))
        self.types, self.starts = np.array(types), np.array(starts)  # [N], [S+1], the last is N
        self._words = list(self._type_of)

    def __len__(self) -> int:
        """S."""
        return len(self.starts) - 1

    def sentence(self, number: int) -> list[str]:
        """The words of a sentence, counted from 0."""
        return [self._words[type_] for type_ in self.types[self.starts[number] : self.starts[number + 1]].tolist()]

    def sentences(self, first: int) -> Iterator[list[str]]:
        """All sentences from this one on."""
        return map(self.sentence, range(first, len(self)))

    def sentence_of(self, token: int) -> int:
        """The number of a token's sentence."""
        return int(np.searchsorted(self.starts, token, side="right")) - 1

    def occurrences(self, word: str) -> np.ndarray:
        """The tokens that are this word, ignoring case: int64, in order."""
        types = [number for other, number in self._type_of.items() if other.lower() == word.lower()]
        return np.flatnonzero(np.isin(self.types, types))

    def same_sentences(self, words: Sequence[str]) -> np.ndarray:
        """The numbers of the sentences with exactly these words."""
        found = np.flatnonzero(np.diff(self.starts) == len(words))
        for place, word in enumerate(words):
            found = found[self.types[self.starts[found] + place] == self._type_of.get(word, -1)]
        return found


def check_overlap(
    trained: Iterable[Sequence[str]],
    scored: Iterable[Sequence[str]],
    *,
    train_file: str | Path,
    test_file: str | Path,
) -> float:
    """
    The share of the test file's sentences that are also in the training file, from the words of each sentence. Raises
    `InputError` if it is more than half.
    """
    known = set(map(tuple, trained))
    seen = [tuple(words) in known for words in scored]
    share = sum(seen) / len(seen)
    if share > MAX_SHARED:
        problem = f"expected text that was not trained on, {share:.0%} of its sentences are in {train_file}"
        raise InputError(problem, file=test_file)
    return share
