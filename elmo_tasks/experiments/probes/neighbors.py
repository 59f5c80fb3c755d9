"""
The nearest occurrences of a word by a frozen layer's vectors, and the nearest words by
word vectors (Table 4).
"""

from collections.abc import Iterable, Iterator
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.layers import encode_blocks, to_half
from elmo_tasks.experiments.probes.senses import read_senses
from elmo_tasks.formats.vector_files import read_vectors, width_of
from elmo_tasks.pretraining.text.sentences import read_sentences


def read_corpus(file: str | Path) -> Iterator[list[str]]:
    """
    The words of each sentence of a text with one tokenized sentence per line, plain or
    gzip; or, if the file name ends in `.xml`, of a word-sense corpus.

    Raises `InputError` as `read_sentences` and `read_senses` do.
    """
    if Path(file).suffix == ".xml":
        for sentence in read_senses(file):
            yield sentence.words
        return
    yield from read_sentences([file])


class CorpusIndex:
    """
    The sentences of a text, and a layer's vectors of its N tokens, float16 of shape [N,
    D]; all in memory.
    """

    def __init__(
        self, sentences: list[list[str]], layer: int, vectors: np.ndarray
    ) -> None:
        self.sentences = sentences
        self.layer = layer
        self.vectors = vectors
        self.words: list[str] = []  # of N tokens, in lower case
        starts = [0]
        for words in sentences:
            self.words += [word.lower() for word in words]
            starts.append(len(self.words))
        self._starts = np.array(starts)  # [S+1], each sentence's first token, and N

    def position_of(self, token: int) -> tuple[list[str], int]:
        """A token's sentence, and its position there, counted from 0."""
        number = int(np.searchsorted(self._starts, token, side="right")) - 1
        return self.sentences[number], token - int(self._starts[number])

    def occurrences(self, word: str) -> np.ndarray:
        """
        The numbers of the tokens that are this word, ignoring case: int64, in order.
        """
        wanted = word.lower()
        return np.flatnonzero([other == wanted for other in self.words])


class Occurrence(NamedTuple):
    """A word in its sentence."""

    words: list[str]
    position: int  # of the word in the sentence
    number: int  # of the occurrence in the corpus, counted from 1, ignoring case
    cosine: float = 1.0  # to the occurrence whose neighbors are searched


def index_corpus(
    sentences: Iterable[list[str]], frozen: Layers, layer: int | None = None
) -> CorpusIndex:
    """
    A text and one of its layers (default: the top one) in memory, `2 D` bytes per
    token. Raises `InputError` if the source does not have the layer, or as the
    sentences do.
    """
    top = frozen.n_layers - 1
    if layer is None:
        layer = top
    if not 0 <= layer <= top:
        raise InputError(f"expected a layer from 0 to {top}, got {layer}")
    text = list(sentences)
    vectors = []
    for block in encode_blocks(frozen, text, what="encoding"):
        vectors.append(to_half(block.layers[layer]).numpy())
    return CorpusIndex(text, layer, np.concatenate(vectors))


def occurrence_in_corpus(index: CorpusIndex, word: str, number: int) -> Occurrence:
    """The word's occurrence of this number. Raises `InputError` if there is none."""
    tokens = index.occurrences(word)
    if not 1 <= number <= len(tokens):
        raise InputError(
            f"expected occurrence {number} of {word!r}, "
            f"the corpus has {len(tokens):,} (ignoring case)"
        )
    words, position = index.position_of(int(tokens[number - 1]))
    return Occurrence(words, position, number)


def nearest_occurrences(
    index: CorpusIndex, word: str, query: Occurrence, *, top: int
) -> list[Occurrence]:
    """
    The `top` occurrences of `word` that are nearest by cosine to its occurrence
    `query`, the nearest first (Table 4). Ties are in the order of the corpus.
    Sentences with the same words as that of `query` are left out.
    """
    own = index.occurrences(word)
    vector = index.vectors[own[query.number - 1]].astype(np.float32)  # [D]
    is_other = []
    for token in own.tolist():
        words, _ = index.position_of(token)
        is_other.append(words != query.words)
    tokens = own[np.array(is_other)]  # [M]
    near = cosines(index.vectors[tokens].astype(np.float32), vector)
    best = np.argsort(-near, kind="stable")[:top]
    occurrences = []
    for token, cosine in zip(tokens[best].tolist(), near[best].tolist(), strict=True):
        words, position = index.position_of(token)
        number = int(np.searchsorted(own, token)) + 1
        occurrences.append(Occurrence(words, position, number, cosine))
    return occurrences


def cosines(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """
    The cosine `a b / (|a| |b|)` of each row a [N, D] and the vector b [D]: [N], 0 if
    one of them is zero.
    """
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)  # [N]
    return (rows @ vector) / np.where(lengths > 0, lengths, 1.0)


def nearest_words(
    file: str | Path, word: str, *, top: int
) -> list[tuple[str, float]] | None:
    """
    The `top` words of a file of word vectors with the nearest vectors, and their
    cosines, in order; `None` if the file has the word neither as given nor in lower
    case. The file is read twice.

    Raises `InputError` as `read_vectors` does.
    """
    width = width_of(file)
    own = dict(read_vectors(file, width=width, words={word, word.lower()}))
    name = word if word in own else word.lower()
    if name not in own:
        return None
    return nlargest(top, _other_cosines(file, name, own[name]), key=itemgetter(1))


def _other_cosines(
    file: str | Path, name: str, own: np.ndarray
) -> Iterator[tuple[str, float]]:
    """The words of a file but one, with the cosines of their vectors and its own [D]."""
    for word, vector in read_vectors(file, width=len(own)):
        if word != name:
            yield word, float(cosines(vector[None], own)[0])
