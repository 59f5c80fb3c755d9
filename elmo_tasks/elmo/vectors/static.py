"""
A text -> one vector per word: the mean of its contextual vectors (Bommasani et al.
2020; Gupta and Jaggi 2021).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from pydantic import SkipValidation

from elmo_tasks.elmo.batching import blocks, embed_windows, named
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError
from elmo_tasks.option_values import BatchSizes
from elmo_tasks.settings import Size, checked


@checked
def frequent_words(
    sentences: SkipValidation[Iterable[Sequence[str]]], *, min_count: Size, most: Size
) -> list[str]:
    """
    The `most` most frequent words that occur at least `min_count` times, by falling
    frequency. The counts are exact, and take about 100 bytes of memory per distinct
    word. Raises `InputError` if there is none.
    """
    counts = Counter[str]()
    for sentence in sentences:
        counts.update(sentence)
    words = [word for word, count in counts.most_common(most) if count >= min_count]
    if not words:
        raise InputError(
            f"expected words that occur {min_count} times, got none",
            hint="lower --min-count",
        )
    for word in words:
        if word.split() != [word]:
            raise InputError(f"expected words without white space, got {word!r:.60}")
    return words


def no_progress(tokens: int) -> None:
    """Shows nothing."""


def mean_vectors(
    model: VectorModel,
    sizes: BatchSizes,
    sentences: Iterable[list[str]],
    words: Sequence[str],
    *,
    progress: Callable[[int], None] = no_progress,
) -> np.ndarray:
    """
    The mean of the vectors of each word's occurrences, float32 [V, D]; sentences are
    read once, as a stream. Sums are in float64, which takes 8 V D bytes of memory. A
    word that is named twice has two equal rows. Raises `InputError` if the model gives
    all layers, or if a word does not occur.
    """
    if model.has_layers:
        raise InputError("layers: expected one vector per word, got all layers")
    distinct = list(dict.fromkeys(words))
    rows = {word: row for row, word in enumerate(distinct)}
    sums = np.zeros((len(distinct), model.width), np.float64)
    counts = np.zeros(len(distinct), np.int64)
    for block in blocks(named(sentences), sizes):
        for index, window, vectors in embed_windows(model, sizes, block):
            tokens = block[index].tokens[window.first : window.last]
            rows_of_tokens = np.array(
                [rows.get(token, -1) for token in tokens], np.int64
            )
            is_wanted = rows_of_tokens >= 0  # [T]
            np.add.at(sums, rows_of_tokens[is_wanted], vectors[is_wanted])
            np.add.at(counts, rows_of_tokens[is_wanted], 1)
            progress(len(tokens))
    if not counts.all():
        raise InputError(
            f"the text has no word {distinct[int(counts.argmin())]!r}",
            hint="each word must be in the text, which must not change meanwhile",
        )
    sums /= counts[:, None]
    return sums.astype(np.float32)[[rows[word] for word in words]]
