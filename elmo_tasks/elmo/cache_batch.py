"""The layer cache's view of a batch: which sentences it has, and the way of their layers to its rows."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.elmo.cache_segments import KEY_BYTES, SegmentStore
from elmo_tasks.elmo.characters import MAX_CHARACTERS, PADDING_ID
from elmo_tasks.elmo.source import LayerSource

STORED = torch.float16
"""The type of the layers on disk: 10 bits after the leading one, values up to 65504."""


class SentenceBatch(NamedTuple):
    """
    The sentences of character ids [B, T, 50], empty ones left out.

    # Parameters

    mask : `Tensor`, bool, shape [B, T]
    lengths : `list[int]`
        Tokens of each row.
    rows : `dict[bytes, list[int]]`
        The rows of each sentence, by its key: a digest of its tokens' ids.
    """

    mask: Tensor
    lengths: list[int]
    rows: dict[bytes, list[int]]

    @classmethod
    def of(cls, ids: Tensor) -> "SentenceBatch | None":
        """`None` where the ids are wrong in a way that the biLM tells of."""
        if ids.dim() != 3 or ids.shape[2] != MAX_CHARACTERS or ids.is_floating_point():
            return None
        wide = ids.cpu()
        narrow = wide.to(torch.int16, memory_format=torch.contiguous_format)  # [B, T, C]
        mask = wide.gt(PADDING_ID).any(2)  # [B, T]
        lengths = mask.sum(1)  # [B]
        from_the_left = torch.arange(ids.shape[1]) < lengths[:, None]  # [B, T]
        if not (narrow.eq(wide).all() and mask.eq(from_the_left).all()):
            return None
        counts = lengths.tolist()
        return cls(mask.to(ids.device), counts, _rows_by_key(narrow.numpy(), counts))

    def length(self, key: bytes) -> int:
        """Tokens of a sentence."""
        return self.lengths[self.rows[key][0]]

    def read(self, store: SegmentStore, keys: Iterable[bytes], stored: Tensor) -> list[bytes]:
        """Copies what the store has of these sentences to their rows in `stored` [L+1, B, T, 2P]; the others' keys."""
        (n_layers, _, _, width), missing = stored.shape, []
        for key in keys:
            length = self.length(key)
            value = store.get(key, length=n_layers * length * width * stored.itemsize)
            if value is None:
                missing.append(key)
            else:
                self.copy(key, np.frombuffer(value, np.float16).reshape(n_layers, length, width), stored)
        return missing

    def copy(self, key: bytes, layers: np.ndarray, stored: Tensor) -> None:
        """A sentence's layers [L+1, T, 2P] to its rows in `stored` [L+1, B, T, 2P]."""
        target = stored.numpy()
        for row in self.rows[key]:
            target[:, row, : layers.shape[1]] = layers


class ComputedLayers(NamedTuple):
    """
    The layers of M sentences that the cache does not have.

    # Parameters

    keys : `list[bytes]`
    exact, rounded : `Tensor`, shape [L+1, M, T, 2P]
        As the biLM gives them; and as they are stored, on the CPU.
    fits : `list[bool]`
        Whether all values of a sentence can be rounded.
    """

    keys: list[bytes]
    exact: Tensor
    rounded: Tensor
    fits: list[bool]

    @classmethod
    def of(cls, bilm: LayerSource, ids: Tensor, batch: SentenceBatch, keys: list[bytes]) -> "ComputedLayers":
        """One pass over those sentences of the batch alone."""
        first_rows = [batch.rows[key][0] for key in keys]
        longest = max(batch.length(key) for key in keys)
        exact = bilm(ids[first_rows, :longest]).layers  # [L+1, M, T, 2P]
        rounded = exact.to(STORED).cpu()
        fits = rounded.isfinite().all(3).all(2).all(0).tolist()
        return cls(keys, exact, rounded, fits)

    def copy_rounded(self, batch: SentenceBatch, stored: Tensor) -> dict[bytes, bytes]:
        """Copies what fits to its rows in `stored` [L+1, B, T, 2P]; the bytes of each sentence, by key."""
        values, found = self.rounded.numpy(), {}
        for place, key in enumerate(self.keys):
            if self.fits[place]:
                layers = values[:, place, : batch.length(key)]  # [L+1, T, 2P]
                batch.copy(key, layers, stored)
                found[key] = layers.tobytes()
        return found

    def copy_exact(self, batch: SentenceBatch, layers: Tensor) -> None:
        """Copies what does not fit to its rows in `layers` [L+1, B, T, 2P]."""
        for place, key in enumerate(self.keys):
            if not self.fits[place]:
                length = batch.length(key)
                layers[:, batch.rows[key], :length] = self.exact[:, place, None, :length]


def _rows_by_key(ids: np.ndarray, lengths: list[int]) -> dict[bytes, list[int]]:
    """The rows of each sentence of ids [B, T, C], int16."""
    rows: dict[bytes, list[int]] = {}
    for row, length in enumerate(lengths):
        if length:
            key = hashlib.blake2b(ids[row, :length].tobytes(), digest_size=KEY_BYTES).digest()
            rows.setdefault(key, []).append(row)
    return rows
