"""The vectors of a sentence's tokens -> one vector of the sentence."""

from collections.abc import Sequence

import numpy as np

from elmo_tasks.option_values import Pooling


def pooled(
    arrays: Sequence[np.ndarray], pooling: Pooling, shape: tuple[int, ...]
) -> np.ndarray:
    """
    A vector for each of N sentences, float32 [N, D] or [N, L+1, D], of its tokens'
    vectors, [T, D] or [L+1, T, D]; zero for an empty sentence. `shape` is the shape of
    one vector, [D] or [L+1, D].
    """
    vectors = np.zeros((len(arrays), *shape), np.float32)
    for row, array in zip(vectors, arrays, strict=True):
        if not array.shape[-2]:
            continue
        if pooling == "mean":
            row[:] = array.mean(-2, dtype=np.float64)
        elif pooling == "max":
            row[:] = array.max(-2)
        elif pooling == "first":
            row[:] = array[..., 0, :]
        else:
            row[:] = array[..., -1, :]
    return vectors
