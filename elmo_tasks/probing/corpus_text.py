"""The words of a corpus on disk, so that a place in it is found without reading it again."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from elmo_tasks.atomic import atomic_write
from elmo_tasks.data.files import open_text
from elmo_tasks.errors import InputError
from elmo_tasks.probing.senses import read_senses

TEXT, STARTS, OFFSETS, TYPES, WORDS = "sentences.txt", "starts.i64", "offsets.i64", "types.u32", "words.txt"
FILES = (TEXT, STARTS, OFFSETS, TYPES, WORDS)

_CHUNK = 1 << 22
"""Tokens looked at at once."""


def read_corpus(file: str | Path) -> Iterator[list[str]]:
    """
    Streams the words of each sentence: of a text file, a tokenised sentence a line, plain or gzip; or, where its name
    ends in `.xml`, of a word-sense corpus.

    # Raises

    `InputError`
        Whatever `open_text` and `read_senses` raise; at the end, if there is no sentence.
    """
    if Path(file).suffix == ".xml":
        yield from (sentence.words for sentence in read_senses(file))
        return
    found = False
    for _, line in open_text(file):
        words = line.split()
        if words:
            found = True
            yield words
    if not found:
        raise InputError("a tokenised sentence a line was wanted, found none", file=file)


class CorpusText:
    """
    N tokens in S sentences, in a folder that `write` has filled; only the types are held in memory.

    # Parameters

    folder : `Path`
    """

    def __init__(self, folder: Path) -> None:
        self.types = np.memmap(folder / TYPES, np.uint32, "r")  # [N]
        self.starts = np.memmap(folder / STARTS, np.int64, "r")  # [S+1], N the last
        self._offsets = np.memmap(folder / OFFSETS, np.int64, "r")  # [S+1], the size of the file the last
        self._text = folder / TEXT
        words = (folder / WORDS).read_text("utf-8").split("\n")[:-1]
        self.type_of = {word: number for number, word in enumerate(words)}

    @staticmethod
    def write(corpus: str | Path, folder: Path) -> None:
        """
        # Raises

        `InputError` where the corpus is not sound or the folder cannot be written.
        """
        type_of: dict[str, int] = {}
        start, offset = 0, 0
        with (
            atomic_write(folder / TEXT) as text_path,
            atomic_write(folder / STARTS) as starts_path,
            atomic_write(folder / OFFSETS) as offsets_path,
            atomic_write(folder / TYPES) as types_path,
            text_path.open("wb") as text,
            starts_path.open("wb") as starts,
            offsets_path.open("wb") as offsets,
            types_path.open("wb") as types,
        ):
            for words in read_corpus(corpus):
                starts.write(np.int64(start).tobytes())
                offsets.write(np.int64(offset).tobytes())
                types.write(np.array([type_of.setdefault(w, len(type_of)) for w in words], np.uint32).tobytes())
                start, offset = start + len(words), offset + text.write(f"{' '.join(words)}\n".encode())
            starts.write(np.int64(start).tobytes())
            offsets.write(np.int64(offset).tobytes())
        with atomic_write(folder / WORDS) as path:
            path.write_text("".join(f"{word}\n" for word in type_of), "utf-8")

    def __len__(self) -> int:
        """S."""
        return len(self.starts) - 1

    def sentence(self, number: int) -> list[str]:
        """The words of a sentence, counted from 0."""
        start, end = (int(self._offsets[at]) for at in (number, number + 1))
        with self._text.open("rb") as file:
            file.seek(start)
            return file.read(end - start).decode("utf-8").split()

    def sentences(self, first: int) -> Iterator[list[str]]:
        """All sentences from this one on."""
        with self._text.open("rb") as file:
            file.seek(int(self._offsets[first]))
            for line in file:
                yield line.decode("utf-8").split()

    def sentence_of(self, token: int) -> int:
        """The sentence that a token is in."""
        return int(np.searchsorted(self.starts, token, side="right")) - 1

    def occurrences(self, word: str) -> np.ndarray:
        """The tokens that are this word, in upper or lower case: int64, in order."""
        lowered = word.lower()
        wanted = np.array([number for other, number in self.type_of.items() if other.lower() == lowered], np.uint32)
        found = [
            start + np.flatnonzero(np.isin(self.types[start : start + _CHUNK], wanted))
            for start in range(0, len(self.types), _CHUNK)
        ]
        return np.concatenate(found)

    def same_sentences(self, words: Sequence[str]) -> np.ndarray:
        """The sentences that have exactly these words: their numbers."""
        types = [self.type_of.get(word) for word in words]
        if None in types:
            return np.zeros(0, np.int64)
        found = np.flatnonzero(np.diff(self.starts) == len(words))  # those of the same length
        for place, wanted in enumerate(types):
            found = found[self.types[self.starts[found] + place] == wanted]
        return found
