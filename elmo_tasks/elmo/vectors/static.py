"""
A text -> one vector per word: the mean of its contextual vectors (Bommasani et al.
2020; Gupta and Jaggi 2021).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from elmo_tasks.elmo.batching import (
    Sentence,
    blocks,
    embed_windows,
    workers,
)
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError
from elmo_tasks.option_values import BatchSizes
from elmo_tasks.settings import Count, Size, checked

_ROWS = 4096
"""Words whose products are computed at a time in float64, to bound the memory."""


@checked
def frequent_words(
    sentences: Iterable[Sequence[str]], *, min_count: Size, most: Size
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
    processes: int = 1,
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
    with workers(model, processes) as compute:
        for block in blocks(_numbered(sentences), sizes):
            for index, window, vectors in embed_windows(model, sizes, block, compute):
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
    means = sums.astype(np.float32)
    if len(distinct) == len(words):
        return means
    return means[[rows[word] for word in words]]


def _numbered(sentences: Iterable[list[str]]) -> Iterator[Sentence]:
    for number, tokens in enumerate(sentences, start=1):
        yield Sentence("", tokens, f"line {number}")


@checked
def check_components(
    width: int,
    *,
    remove: Count,
    dimensions: Size | None,
    count: Size | None = None,
) -> None:
    """
    Raises `InputError` if vectors of this width have not as many components to remove
    and to keep. `count` (N) vectors have at most N - 1: further ones are noise.
    """
    if not remove and dimensions is None:
        return
    kept = dimensions or 1
    most, of = width, ""
    if count is not None and count - 1 < width:
        most, of = count - 1, f", of {count:,} words"
    if remove + kept > most:
        expected = f"at most {most} components together{of}"
        got = f"{remove} to remove and {kept} to keep"
        raise InputError(f"remove and dimensions: expected {expected}, got {got}")


def reduce_dimensions(
    vectors: np.ndarray, *, remove: int = 0, dimensions: int | None = None
) -> np.ndarray:
    """
    Vectors [V, D] without their mean and their first `remove` principal components (Mu
    and Viswanath 2018), float32; if `dimensions` is given, as the coordinates of the
    next ones, [V, dimensions]. Unchanged if neither is given.

    Raises `InputError` if there are not as many components.
    """
    count, width = vectors.shape
    check_components(width, remove=remove, dimensions=dimensions, count=count)
    if not remove and dimensions is None:
        return vectors
    mean = vectors.mean(0, dtype=np.float64)  # [D]
    centred = vectors - mean.astype(np.float32)  # [V, D]
    products = np.zeros((centred.shape[1], centred.shape[1]), np.float64)
    for first in range(0, len(centred), _ROWS):
        rows = centred[first : first + _ROWS].astype(np.float64)
        products += rows.T @ rows
    _, axes = np.linalg.eigh(products)  # [D, D], the first component last
    axes = axes[:, ::-1].astype(np.float32)
    if dimensions is not None:
        return centred @ axes[:, remove : remove + dimensions]
    removed = axes[:, :remove]  # [D, remove]
    return centred - centred @ removed @ removed.T
