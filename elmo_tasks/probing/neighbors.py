"""The nearest occurrences of a word by a frozen layer's vectors, and the nearest words by fixed ones (Table 4)."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elmo_tasks.data.vector_files import read_vectors, width_of
from elmo_tasks.errors import InputError
from elmo_tasks.probing.index import CorpusIndex
from elmo_tasks.probing.layers import Encoder, encode_blocks

_CHUNK = 32_768
"""Vectors compared at once."""


class Occurrence(NamedTuple):
    """
    A word in its sentence.

    # Parameters

    words : `list[str]`
    place : `int`
        The word's, counted from 0.
    number : `int`, optional
        Which of the word's occurrences in the corpus it is, counted from 1; upper and lower case do not differ.
    cosine : `float`, optional
        To the occurrence that was asked about.
    """

    words: list[str]
    place: int
    number: int | None = None
    cosine: float | None = None


class Question(NamedTuple):
    """
    # Parameters

    source : `Occurrence`
    vector : `np.ndarray`, float32, shape [D]
    """

    source: Occurrence
    vector: np.ndarray


def occurrence_in_corpus(index: CorpusIndex, word: str, number: int) -> Question:
    """
    The word's occurrence of this number, counted from 1, with its vector from the index.

    # Raises

    `InputError`
        If the corpus has not so many.
    """
    tokens = index.text.occurrences(word)
    if not 1 <= number <= len(tokens):
        hint = "upper and lower case do not differ" if not len(tokens) else None
        raise InputError(f"occurrence {number} of {word!r} was wanted, the corpus has {len(tokens):,}", hint=hint)
    token = int(tokens[number - 1])
    return Question(_occurrence(index, token, number), index.vectors[token].astype(np.float32))


def occurrence_in_sentence(index: CorpusIndex, encoder: Encoder, word: str, sentence: Sequence[str]) -> Question:
    """
    The first occurrence of the word in a sentence of the user's, which goes through the encoder.

    # Raises

    `InputError`
        If the word is not in it.
    """
    lowered = [other.lower() for other in sentence]
    if word.lower() not in lowered:
        hint = "its tokens must be apart by blanks, the full stop, too"
        raise InputError(f"a sentence with {word!r} was wanted, found {' '.join(sentence)!r}", hint=hint)
    place = lowered.index(word.lower())
    (block,) = encode_blocks(encoder, [list(sentence)], words=list)
    vector = block.layers[index.layer, place].half().float().numpy()  # rounded as the index is
    return Question(Occurrence(list(sentence), place), vector)


def nearest_occurrences(
    index: CorpusIndex, word: str, question: Question, *, top: int, any_word: bool = False
) -> list[Occurrence]:
    """
    The occurrences nearest by cosine, nearest first; of equally near ones the first in the corpus. Sentences with the
    same words as the source's are left out.

    # Parameters

    top : `int`
        How many at most.
    any_word : `bool`
        Among all tokens of the corpus instead of the word's own.
    """
    own = index.text.occurrences(word)
    tokens = range(len(index.text.types)) if any_word else own
    left_out = _tokens_like(index, question.source.words)
    found, near = np.zeros(0, np.int64), np.zeros(0, np.float32)
    for start in range(0, len(tokens), _CHUNK):
        chunk = np.setdiff1d(tokens[start : start + _CHUNK], left_out)
        found = np.concatenate([found, chunk])
        near = np.concatenate([near, cosines(index.vectors[chunk].astype(np.float32), question.vector)])
        kept = np.argsort(-near, kind="stable")[:top]
        found, near = found[kept], near[kept]
    return [
        _occurrence(index, token, _number(own, token), cosine)
        for token, cosine in zip(found.tolist(), near.tolist(), strict=True)
    ]


def _number(own: np.ndarray, token: int) -> int | None:
    """Which of the word's own occurrences, counted from 1, a token is."""
    before = int(np.searchsorted(own, token))
    return before + 1 if before < len(own) and own[before] == token else None


def _tokens_like(index: CorpusIndex, words: Sequence[str]) -> np.ndarray:
    """All tokens of the sentences that have exactly these words."""
    starts = index.text.starts[index.text.same_sentences(words)]
    return (starts[:, None] + np.arange(len(words))).flatten()


def cosines(rows: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Of each of N rows and the vector: [N, D] and [D] give [N]; 0 where one of them is zero."""
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)  # [N]
    return (rows @ vector) / np.where(lengths > 0, lengths, 1.0)


def _occurrence(index: CorpusIndex, token: int, number: int | None, cosine: float | None = None) -> Occurrence:
    sentence = index.text.sentence_of(token)
    return Occurrence(index.text.sentence(sentence), token - int(index.text.starts[sentence]), number, cosine)


def nearest_words(file: str | Path, word: str, *, top: int) -> list[tuple[str, float]] | None:
    """
    The words whose fixed vectors are nearest by cosine, nearest first. The file is read twice and never held.

    # Parameters

    file : `str` or `Path`
        Word vectors as `read_vectors` reads them.
    word : `str`
        As it is written or, where the file lacks that, in lower case.
    top : `int`
        How many at most.

    # Returns

    `list[tuple[str, float]]` of words and cosines; `None` where the file has no vector of the word.

    # Raises

    `InputError`
        Whatever `read_vectors` raises.
    """
    width = width_of(file)
    own = dict(read_vectors(file, width=width, wanted={word, word.lower()}))
    name = word if word in own else word.lower()
    if name not in own:
        return None
    best: list[tuple[str, float]] = []
    others = ((other, vector) for other, vector in read_vectors(file, width=width) if other != name)
    while chunk := list(islice(others, _CHUNK)):
        near = cosines(np.stack([vector for _, vector in chunk]), own[name])
        named = zip((other for other, _ in chunk), near.tolist(), strict=True)
        best = sorted([*best, *named], key=lambda pair: -pair[1])[:top]
    return best
