"""The words of a corpus as arrays on disk, for random access."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from elmo_tasks.experiments.probes.senses import read_senses
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.text_files import not_empty, open_text

STARTS, TYPES, WORDS = "starts.i64", "types.u32", "words.txt"


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
    """N tokens in S sentences, memory-mapped from a folder that `write` has filled; only the types are in memory."""

    def __init__(self, folder: Path) -> None:
        self.types = np.memmap(folder / TYPES, np.uint32, "r")  # [N]
        self.starts = np.memmap(folder / STARTS, np.int64, "r")  # [S+1], the last is N
        self._words = (folder / WORDS).read_text("utf-8").split("\n")[:-1]
        self._type_of = {word: number for number, word in enumerate(self._words)}

    @staticmethod
    def write(sentences: Iterable[list[str]], folder: Path) -> None:
        """Raises `InputError` if the folder cannot be written."""
        type_of: dict[str, int] = {}
        types, starts = array("I"), array("q", [0])
        for words in sentences:
            types.extend(type_of.setdefault(word, len(type_of)) for word in words)
            starts.append(len(types))
        listing = "".join(f"{word}\n" for word in type_of).encode()
        for name, data in ((STARTS, starts.tobytes()), (TYPES, types.tobytes()), (WORDS, listing)):
            with atomic_write(folder / name) as temporary:
                temporary.write_bytes(data)

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
