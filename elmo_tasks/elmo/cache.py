"""
Character ids -> layers of a frozen source, read from disk if they were computed before.
"""

import hashlib
import json
import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Optional

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.characters import MAX_CHARACTERS, PAD_WORD, token_mask
from elmo_tasks.elmo.models.files import ModelFiles
from elmo_tasks.elmo.sources.types import SOURCES, LayerSource
from elmo_tasks.errors import InputError
from elmo_tasks.settings import PathLike, Settings, checked

logger = logging.getLogger(__name__)

STORED = torch.float16
"""The data type of the layers on disk."""

FORMAT = 6
"""Increased when the files, their keys, or what a source computes change."""

LEAST_FREE = 10**9
"""Bytes of the disk that are left free."""

_LOCK = threading.RLock()
"""Held while a store is used."""

_PAGE = 2**15
"""Bytes: with more, small values waste space; with fewer, large ones take longer."""

_SECONDS = 600  # to wait for other processes

STORE = "layers.sqlite"
_CREATE = "CREATE TABLE IF NOT EXISTS layers (key BLOB PRIMARY KEY, value BLOB)"
_SELECT = "SELECT value FROM layers WHERE key = ?"
_INSERT = "INSERT OR IGNORE INTO layers VALUES (?, ?)"

Description = dict[str, Any]
"""What tells the layers of a source from those of others."""


@checked
@dataclass(frozen=True, kw_only=True)
class CacheSettings(Settings):
    """
    Whether and where the layers of each sentence are kept on disk; see `LayerCache`.
    """

    cache_dir: Annotated[
        Optional[PathLike], "folder of the layer cache; null: no cache"
    ] = None


class _DistinctSentence(NamedTuple):
    """A sentence of `length` tokens, and all `rows` of the batch that have it."""

    length: int
    rows: list[int]


class LayerCache:
    """
    The layers of sentences on disk, for every model and process that embeds them with
    the same source.

    Each source has a folder in `cache_dir`, with an SQLite database: one process at a
    time writes, and a kill loses no committed value. Layers are rounded to float16
    whether they were read or computed, so that results do not depend on what the cache
    holds. A sentence with a value beyond float16 is neither rounded nor stored.

    Problems with the folder are logged and never stop a run: after an error of reading
    the cache is no longer used, and after one of writing nothing more is written.
    Neither is it where less than `LEAST_FREE` bytes of the disk would be left.
    """

    def __init__(self, cache_dir: str | Path, files: ModelFiles) -> None:
        self.cache_dir = Path(cache_dir).expanduser().resolve()
        self._files = files
        self._reads = self._writes = True

    def layers(self, source: LayerSource, ids: Tensor) -> LayerOutput:
        """
        The layers [L+1, B, T, D] and the mask [B, T] for character ids [B, T, C], as
        `source(ids)` gives them, but rounded as described above. `source` was loaded
        from the files, and is given only the sentences that are missing.
        """
        mask = token_mask(ids)  # [B, T]
        description = self._describe(source)
        sentences = _sentences(ids.to(torch.int16), mask, of=_digest(description))
        token_bytes = source.n_layers * source.output_dim * STORED.itemsize
        stored_values = self._read(description, sentences, token_bytes)
        rows, longest = mask.shape
        shape = (source.n_layers, rows, longest, source.output_dim)
        stored = np.zeros(shape, np.float16)  # [L+1, B, T, D]
        for key, value in stored_values.items():
            sentence = sentences[key]
            own = np.frombuffer(value, np.float16)
            own = own.reshape(source.n_layers, sentence.length, -1)  # [L+1, T, D]
            for row in sentence.rows:
                stored[:, row, : sentence.length] = own
        layers = torch.from_numpy(stored).to(ids.device).to(source.dtype)
        missing = sentences.copy()
        for key in stored_values:
            del missing[key]
        if missing:
            self._write(description, _compute(source, ids, missing, layers))
        return LayerOutput(layers, mask)

    def _describe(self, source: LayerSource) -> Description:
        description = {
            "model_sha256": self._files.sha256,
            "state": source.state,
            "precision": source.precision,
            "dtype": str(STORED).removeprefix("torch."),
            "format": FORMAT,
            "source": self._files.kind,
        }
        if "pieces" in SOURCES[self._files.kind].options:
            with_pieces: Any = source
            description["pieces"] = with_pieces.pieces
        code = SOURCES[self._files.kind].code_sha256
        if code is not None:
            description["code_sha256"] = code
        return description

    def _store(self, description: Description) -> sqlite3.Connection:
        """The open store of a source, in a folder that is created."""
        folder = self.cache_dir / _digest(description).hex()
        folder.mkdir(parents=True, exist_ok=True)
        return open_store(folder / STORE, os.getpid())

    def _read(
        self,
        description: Description,
        sentences: dict[bytes, _DistinctSentence],
        token_bytes: int,
    ) -> dict[bytes, bytes]:
        """The stored values of those sentences that are in the cache."""
        values = {}
        with _LOCK, self._errors_logged(reading=True):
            if self._reads:
                store = self._store(description)
                for key, sentence in sentences.items():
                    for (value,) in store.execute(_SELECT, (key,)):
                        if len(value or b"") != sentence.length * token_bytes:
                            raise InputError("damaged: delete this folder")
                        values[key] = value
        return values

    def _write(self, description: Description, values: Mapping[bytes, bytes]) -> None:
        """Add values to the cache, unless the disk is full, or cannot be written."""
        size = sum(map(len, values.values()))
        with _LOCK, self._errors_logged(reading=False):
            if not values or not self._writes:
                return
            store = self._store(description)
            if shutil.disk_usage(self.cache_dir).free < size + LEAST_FREE:
                raise OSError(f"less than {LEAST_FREE:,} bytes of the disk are free")
            with store:
                store.executemany(_INSERT, values.items())

    @contextmanager
    def _errors_logged(self, *, reading: bool) -> Iterator[None]:
        """
        Log errors of the disk or of the store, which stop the cache, and not the run.
        """
        try:
            yield
        except (OSError, InputError, sqlite3.Error) as error:
            self._writes = False
            effect = "no longer written"
            if reading:
                self._reads = False
                effect = "no longer used"
            message = "layer cache %s: %s, the run continues: %s"
            logger.warning(message, self.cache_dir, effect, error)


@cache
def open_store(file: Path, process: int) -> sqlite3.Connection:
    """The store in a file, which is created; a fork opens its own."""
    store = sqlite3.connect(file, timeout=_SECONDS, check_same_thread=False)
    store.execute(f"PRAGMA page_size = {_PAGE}")
    store.execute(_CREATE)
    return store


def _digest(description: Description) -> bytes:
    """16 bytes that tell the layers of a source from those of all others."""
    fields = json.dumps(description, sort_keys=True).encode()
    return hashlib.sha256(fields).digest()[:16]


def _compute(
    source: LayerSource,
    ids: Tensor,
    sentences: dict[bytes, _DistinctSentence],
    layers: Tensor,
) -> dict[bytes, bytes]:
    """
    Compute sentences of a batch with ids [B, T, C], copy their layers to their rows in
    `layers` [L+1, B, T, D], and return the values for the cache.
    """
    first_rows = [sentence.rows[0] for sentence in sentences.values()]
    longest = max(sentence.length for sentence in sentences.values())
    computed = source(ids[first_rows, :longest]).layers  # [L+1, M, T, D]
    rounded = computed.to(STORED)
    stored = rounded.cpu()
    fits = stored.isfinite().all(3).all(2).all(0).tolist()  # [M]
    values = {}
    for index, (key, sentence) in enumerate(sentences.items()):
        length = sentence.length
        result = computed
        if fits[index]:
            result = rounded
            values[key] = stored[:, index, :length].numpy().tobytes()
        for row in sentence.rows:
            layers[:, row, :length] = result[:, index, :length]
    return values


def _sentences(
    ids: Tensor, mask: Tensor, *, of: bytes
) -> dict[bytes, _DistinctSentence]:
    """
    The sentences of ids [B, T, C], except empty ones, by their keys in the store of the
    source with the digest `of`.
    """
    sentences: dict[bytes, _DistinctSentence] = {}
    rows = ids.cpu().contiguous().numpy()
    lengths = (rows > 0).any(2).sum(1).tolist()  # [B]
    for row, length in enumerate(lengths):
        if not length:
            continue
        key = _key(rows[row, :length], of)
        if key not in sentences:
            sentences[key] = _DistinctSentence(length, [])
        sentences[key].rows.append(row)
    return sentences


def _key(tokens: np.ndarray, digest: bytes) -> bytes:
    """
    A digest of a sentence's ids [T, C], which does not depend on the padding of words,
    and of the `digest` of its source: in the file of another source it finds nothing.
    """
    slots = max(MAX_CHARACTERS, (tokens != PAD_WORD + 1).any(0).sum())
    used_ids = tokens[:, :slots].tobytes()
    return hashlib.blake2b(used_ids, digest_size=16, key=digest).digest()
