"""Sentences in memory, or a stream of them -> an array of vectors for each."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from elmo_tasks.elmo.batching import Sentence, blocks, embed_into
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.option_values import BatchSizes


def arrays_of(
    model: VectorModel,
    sizes: BatchSizes,
    words: Sequence[list[str]],
    progress: Callable[[int], Any],
) -> list[np.ndarray]:
    """
    The vectors of each of N sentences, float32, [L+1, T, D] or [T, D]. `progress` is
    called with numbers of tokens.
    """
    return _arrays(model, sizes, list(_named(words)), progress)


def stream_of_arrays(
    model: VectorModel, sizes: BatchSizes, words: Iterable[list[str]]
) -> Iterator[np.ndarray]:
    """As `arrays_of`, of any number of sentences; one block of them is in memory."""
    for block in blocks(_named(words), sizes):
        yield from _arrays(model, sizes, block)


def _named(words: Iterable[list[str]]) -> Iterator[Sentence]:
    """Sentences, which errors name by their numbers."""
    for number, one in enumerate(words, start=1):
        yield Sentence("", one, f"line {number}")


def _arrays(
    model: VectorModel,
    sizes: BatchSizes,
    sentences: Sequence[Sentence],
    progress: Callable[[int], Any] = lambda tokens: None,
) -> list[np.ndarray]:
    arrays = []
    for sentence in sentences:
        arrays.append(np.empty(model.shape(len(sentence.tokens)), np.float32))
    embed_into(arrays, model, sizes, sentences, progress)
    return arrays
