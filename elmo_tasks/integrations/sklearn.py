"""scikit-learn: sentence vectors as a transformer."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from elmo_tasks.elmo.sentence_embedder import Elmo, Layers, check_pooling
from elmo_tasks.errors import needs

with needs("scikit-learn"):
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import Tags


class ElmoVectorizer(TransformerMixin, BaseEstimator):
    """
    N texts, or lists of words, -> an array [N, 2P], float32; for all layers [N, (L+1) * 2P]. `fit` learns nothing.

    For the parameters see `Elmo.from_files` and `Elmo.embed_sentences`.
    """

    def __init__(
        self,
        options_file: str | Path | None = None,
        weight_file: str | Path | None = None,
        *,
        layers: Layers = "average",
        pooling: str = "mean",
        device: str = "cpu",
        cache_dir: str | Path | None = None,
    ) -> None:
        check_pooling(pooling)
        self.options_file, self.weight_file, self.layers, self.pooling = options_file, weight_file, layers, pooling
        self.device, self.cache_dir = device, cache_dir

    def fit(self, X: Iterable[str | Sequence[str]], y: Any = None) -> Self:
        """Opens the biLM, so that wrong settings are an error here."""
        self._elmo()
        return self

    def transform(self, X: Iterable[str | Sequence[str]]) -> np.ndarray:
        """The vectors of N texts."""
        vectors: np.ndarray = self._elmo().embed_sentences(X, layers=self.layers, pooling=self.pooling)
        return vectors.reshape(len(vectors), -1)

    def _elmo(self) -> Elmo:
        return _open(self.options_file, self.weight_file, device=self.device, cache_dir=self.cache_dir)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.requires_fit = True, False, False
        return tags


_open = lru_cache(maxsize=2)(Elmo.from_files)  # clones share the biLM
