"""The vectors of a sentence's tokens -> one vector of the sentence."""

from collections.abc import Callable, Sequence

import numpy as np

from elmo_tasks.option_values import Pooling


def _mean(vectors: np.ndarray) -> np.ndarray:
    return vectors.mean(-2, dtype=np.float64)


def _max(vectors: np.ndarray) -> np.ndarray:
    return vectors.max(-2)


def _first(vectors: np.ndarray) -> np.ndarray:
    return vectors[..., 0, :]


def _last(vectors: np.ndarray) -> np.ndarray:
    return vectors[..., -1, :]


_POOLINGS: dict[Pooling, Callable[[np.ndarray], np.ndarray]] = {
    "mean": _mean,
    "max": _max,
    "first": _first,
    "last": _last,
}
"""
Vectors of a sentence, [T, D] or [L+1, T, D], -> one of the sentence, [D] or [L+1, D].
"""


def pooled(
    arrays: Sequence[np.ndarray], pooling: Pooling, shape: tuple[int, ...]
) -> np.ndarray:
    """
    A vector for each of N sentences, float32 [N, D] or [N, L+1, D]; zero for an empty
    sentence. `shape` is the shape of one vector, [D] or [L+1, D].
    """
    vectors = np.zeros((len(arrays), *shape), np.float32)
    for row, array in zip(vectors, arrays, strict=True):
        if array.shape[-2]:
            row[:] = _POOLINGS[pooling](array)
    return vectors
