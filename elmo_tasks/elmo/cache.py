"""
Character ids -> layers of a frozen source, read from disk if they were computed before.
"""

import hashlib
import json
import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Optional

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.characters import MAX_CHARACTERS, PAD_WORD, token_mask
from elmo_tasks.elmo.models.files import ModelFiles
from elmo_tasks.elmo.sources.types import SOURCES, LayerSource, PieceSource
from elmo_tasks.elmo.store import LOCK, open_store, remove_store
from elmo_tasks.errors import InputError
from elmo_tasks.settings import PathLike, Positive, Settings, checked
from elmo_tasks.system.files import write_text

logger = logging.getLogger(__name__)

GIGABYTE = 10**9

STORED = torch.float16
"""The data type of the layers on disk."""

FORMAT = 5
"""Increased when the files, their keys, or what a source computes change."""

_DESCRIPTION = "source.json"
_HASHED = (
    "format",
    "source",
    "model_sha256",
    "state",
    "precision",
    "dtype",
    "pieces",
    "code_sha256",
)
"""
The keys of a description that tell caches apart: the name of a folder is their digest.
"""

_STORE = "layers.sqlite"

Description = dict[str, Any]
"""
Contents of `source.json`: sha256 and paths of the files, state, precision, stored
type, format.
"""


@checked
@dataclass(frozen=True, kw_only=True)
class CacheSettings(Settings):
    """
    Whether and where the layers of each sentence are kept on disk; see `LayerCache`.
    """

    cache_dir: Annotated[
        Optional[PathLike], "folder of the layer cache; null: no cache"
    ] = None
    cache_limit_gb: Annotated[
        Optional[Positive],
        "largest size of the cache in 10^9 bytes; null: its present size plus nine"
        " tenths of the free disk",
    ] = None


class _DistinctSentence(NamedTuple):
    """A sentence of `length` tokens, and all `rows` of the batch that have it."""

    length: int
    rows: list[int]


class LayerCache:
    """
    The layers of sentences on disk, for every model and process that embeds them with
    the same source.

    Each source has a folder in `cache_dir`. Layers are rounded to float16 whether they
    were read or computed, so that results do not depend on what the cache holds. A
    sentence with a value beyond float16 is neither rounded nor stored.

    Problems with the folder are logged and never stop a run: damaged entries are
    computed again, and after any other error the cache is no longer used. When the
    limit is reached, nothing more is written.

    `cache_dir` is created when the first sentence is written. `cache_limit_gb` is the
    maximum size of all files in it, in 10^9 bytes; processes that write at the same
    time may exceed it by one batch each. By default it is the present size plus nine
    tenths of the free disk space. While `read_only` is true, nothing is written; it may
    be changed at any time.
    """

    def __init__(
        self, settings: CacheSettings, files: ModelFiles, *, read_only: bool = False
    ) -> None:
        if settings.cache_dir is None:
            raise ValueError("expected a cache_dir")
        self.settings = settings
        self.cache_dir = Path(settings.cache_dir).expanduser().resolve()
        self.limit = self._limit(settings.cache_limit_gb)
        self.read_only = read_only
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
        stored_values = self._read(description, sentences)
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

    def _limit(self, limit_gb: float | None) -> int:
        """The maximal size in bytes."""
        if limit_gb is not None:
            return int(limit_gb * GIGABYTE)
        existing = self.cache_dir
        while not existing.is_dir():
            existing = existing.parent
        room = shutil.disk_usage(existing).free * 9 // 10
        return self._used() + room

    def _store(self, description: Description) -> Path:
        """The file of the layers of a source."""
        return self.cache_dir / _digest(description).hex() / _STORE

    def _used(self) -> int:
        """The bytes of the files of all sources."""
        return sum(map(os.path.getsize, self.cache_dir.glob(f"*/{_STORE}")))

    def _describe(self, source: LayerSource) -> Description:
        """What `source.json` says of a source."""
        description = {
            "model_sha256": self._files.sha256,
            "state": source.state,
            "precision": source.precision,
            "dtype": str(STORED).removeprefix("torch."),
            "token_bytes": token_bytes(source),
            "model": self._files.public,
            "format": FORMAT,
            "source": self._files.kind,
        }
        if isinstance(source, PieceSource):
            description["pieces"] = source.pieces
        code = SOURCES[self._files.kind].code_sha256
        if code is not None:
            description["code_sha256"] = code
        return description

    def _read(
        self, description: Description, sentences: dict[bytes, _DistinctSentence]
    ) -> dict[bytes, bytes]:
        """The stored values of those sentences that are in the cache."""
        sizes = {}
        for key, sentence in sentences.items():
            sizes[key] = sentence.length * description["token_bytes"]
        file = self._store(description)
        with self._errors_logged(file, reading=True):
            if self._reads:
                store = open_store(file)
                if store is not None:
                    return store.read(sizes)
        return {}

    def _write(self, description: Description, values: Mapping[bytes, bytes]) -> None:
        """Add values to the cache, unless it is full, cannot be written or may not."""
        file = self._store(description)
        with LOCK, self._errors_logged(file, reading=False):
            if not values or self.read_only or not self._writes:
                return
            if self._used() + sum(map(len, values.values())) > self.limit:
                self._writes = False
                message = "nothing more is written, the limit of %g GB is reached"
                limit = self.limit / GIGABYTE
                logger.warning("layer cache %s: " + message, self.cache_dir, limit)
                return
            beside = file.with_name(_DESCRIPTION)
            if not beside.exists():
                write_text(beside, json.dumps(description, indent=2) + "\n")
            store = open_store(file, create=True)
            if store is not None:
                store.write(values)

    @contextmanager
    def _errors_logged(self, file: Path, *, reading: bool) -> Iterator[None]:
        """
        Log errors of the disk or of the store, which stop the cache, and not the run.
        """
        try:
            yield
        except (OSError, InputError, sqlite3.Error) as error:
            if type(error) is sqlite3.DatabaseError:  # neither of access nor of space
                logger.warning(
                    "layer cache %s: damaged, starting it again: %s", file, error
                )
                remove_store(file)
                return
            self._writes = False
            effect = "no longer written"
            if reading:
                self._reads = False
                effect = "no longer used"
            logger.warning(
                "layer cache %s: %s, the run continues: %s",
                self.cache_dir,
                effect,
                error,
            )


def token_bytes(source: LayerSource) -> int:
    """The bytes of a token's layers on disk."""
    return source.n_layers * source.output_dim * STORED.itemsize


def _digest(description: Description) -> bytes:
    """16 bytes that tell the layers of a source from those of all others."""
    hashed = {key: description[key] for key in _HASHED if key in description}
    fields = json.dumps(hashed, sort_keys=True).encode()
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
    used = (tokens != PAD_WORD + 1).any(0).sum()
    slots = max(MAX_CHARACTERS, used)
    used_ids = tokens[:, :slots].tobytes()
    return hashlib.blake2b(used_ids, digest_size=16, key=digest).digest()
