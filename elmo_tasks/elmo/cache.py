"""Character ids -> layers of a frozen source, read from disk if they were computed before."""

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
from elmo_tasks.elmo.source_files import SourceFiles
from elmo_tasks.elmo.source_types import LayerSource
from elmo_tasks.elmo.store import LOCK, open_store, remove_store
from elmo_tasks.errors import InputError
from elmo_tasks.files import write_text
from elmo_tasks.settings import PathLike, Range, Settings

logger = logging.getLogger(__name__)

GIGABYTE = 10**9

STORED = torch.float16  # the type of the layers on disk
FORMAT = 4  # increased when the files, their keys, or what a source computes change

_DESCRIPTION = "source.json"
_HASHED = (
    "format",
    "source",
    "options_sha256",
    "weights_sha256",
    "state",
    "precision",
    "dtype",
    "pieces",
)
_STORE = "layers.sqlite"

Description = dict[str, Any]
"""Contents of `source.json`: sha256 and places of the files, state, precision, stored type, format."""


@dataclass(frozen=True, kw_only=True)
class CacheSettings(Settings):
    """Whether and where the layers of each sentence are kept on disk; see `LayerCache`."""

    cache_dir: Annotated[
        Optional[PathLike], "folder for the layers of each sentence, or null"
    ] = None
    cache_limit_gb: Annotated[
        Optional[Annotated[float, Range(above=0)]],
        "its maximal size in 10^9 bytes; null: nine tenths of the free disk",
    ] = None


class _Sentence(NamedTuple):
    length: int
    rows: list[int]  # of the batch, which hold the sentence


class LayerCache:
    """
    The layers of sentences on disk, for every model and process that embeds them with the same source.

    Each source has a folder in `cache_dir`. Layers are rounded to float16 whether they were read or computed, so that
    results do not depend on what the cache holds. A sentence with a value beyond float16 is neither rounded nor stored.

    Problems with the folder are logged and never stop a run: damaged entries are computed again, and nothing more is
    read or written after another error. Nothing more is written when the limit is reached.

    `cache_dir` is created when the first sentence is written. `cache_limit_gb` is the maximum size of all files in it,
    in 10^9 bytes; processes that write at the same time may exceed it by one batch each. By default it is what is there
    and nine tenths of the free disk. Nothing is written while `read_only`, which may be changed at any time.
    """

    def __init__(
        self, settings: CacheSettings, files: SourceFiles, *, read_only: bool = False
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
        The result of `source(ids)`, rounded as described above, for character ids [B, T, C]: layers [L+1, B, T, D] and
        mask [B, T]. `source` was loaded from the files, and is given only the sentences that are missing.
        """
        mask = token_mask(ids)  # [B, T]
        sentences = _sentences(ids.to(torch.int16), mask)
        description = self._describe(source)
        found = self._read(description, sentences)
        shape = (source.n_layers, *mask.shape, source.output_dim)
        stored = np.zeros(shape, np.float16)  # [L+1, B, T, D]
        for key, value in found.items():
            length, rows = sentences[key]
            own = np.frombuffer(value, np.float16).reshape(source.n_layers, length, -1)
            for row in rows:
                stored[:, row, :length] = own
        layers = torch.from_numpy(stored).to(ids.device).to(source.dtype)
        missing = {
            key: sentence for key, sentence in sentences.items() if key not in found
        }
        if missing:
            self._write(description, _compute(source, ids, missing, layers))
        return LayerOutput(layers, mask)

    def _limit(self, limit_gb: float | None) -> int:
        """The maximal size in bytes."""
        if limit_gb is not None:
            return int(limit_gb * GIGABYTE)
        place = self.cache_dir
        while not place.is_dir():
            place = place.parent
        room = shutil.disk_usage(place).free * 9 // 10
        return self._used() + room

    def _store(self, description: Description) -> Path:
        fields = json.dumps(
            {key: description[key] for key in _HASHED if key in description},
            sort_keys=True,
        )
        return (
            self.cache_dir / hashlib.sha256(fields.encode()).hexdigest()[:32] / _STORE
        )

    def _used(self) -> int:
        return sum(os.path.getsize(file) for file in self.cache_dir.glob(f"*/{_STORE}"))

    def _describe(self, source: LayerSource) -> Description:
        description = {
            "options_sha256": self._files.options_file.sha256,
            "weights_sha256": self._files.weight_file.sha256,
            "state": source.state,
            "precision": source.precision,
            "dtype": str(STORED).removeprefix("torch."),
            "token_bytes": source.n_layers * source.output_dim * STORED.itemsize,
            "options_file": self._files.options_file.public,
            "weight_file": self._files.weight_file.public,
            "format": FORMAT,
            "source": self._files.name,
        }
        pieces = getattr(source, "pieces", None)  # of a transformer
        if pieces:
            description["pieces"] = pieces
        return description

    def _read(
        self, description: Description, sentences: dict[bytes, _Sentence]
    ) -> dict[bytes, bytes]:
        sizes = {
            key: length * description["token_bytes"]
            for key, (length, _) in sentences.items()
        }
        file = self._store(description)
        with self._errors_logged(file, reading=True):
            store = open_store(file) if self._reads else None
            return {} if store is None else store.read(sizes)
        return {}

    def _write(self, description: Description, values: Mapping[bytes, bytes]) -> None:
        file = self._store(description)
        with LOCK, self._errors_logged(file, reading=False):
            if not values or self.read_only or not self._writes:
                return
            if self._used() + sum(map(len, values.values())) > self.limit:
                self._writes = False
                message = "layer cache %s: nothing more is written: its limit of %g GB is reached"
                logger.warning(message, self.cache_dir, self.limit / GIGABYTE)
                return
            if not file.with_name(_DESCRIPTION).exists():
                write_text(
                    file.with_name(_DESCRIPTION),
                    json.dumps(description, indent=2) + "\n",
                )
            if (store := open_store(file, create=True)) is not None:
                store.write(values)

    @contextmanager
    def _errors_logged(self, file: Path, *, reading: bool) -> Iterator[None]:
        try:
            yield
        except (OSError, InputError, sqlite3.Error) as error:
            if type(error) is sqlite3.DatabaseError:  # neither of access nor of space
                logger.warning(
                    "layer cache %s: damaged, and begun again: %s", file, error
                )
                remove_store(file)
                return
            self._writes, self._reads = False, self._reads and not reading
            effect = (
                "nothing is read any more" if reading else "nothing more is written"
            )
            logger.warning(
                "layer cache %s: %s, the run continues: %s",
                self.cache_dir,
                effect,
                error,
            )


def _compute(
    source: LayerSource,
    ids: Tensor,
    sentences: dict[bytes, _Sentence],
    layers: Tensor,
) -> dict[bytes, bytes]:
    """Compute sentences of a batch, copy their layers to their rows in `layers` [L+1, B, T, D], and return values."""
    first_rows = [sentence.rows[0] for sentence in sentences.values()]
    longest = max(sentence.length for sentence in sentences.values())
    computed = source(ids[first_rows, :longest]).layers  # [L+1, M, T, D]
    rounded = computed.to(STORED)
    stored = rounded.cpu()
    values = {}
    fits = stored.isfinite().all(3).all(2).all(0).tolist()
    for place, (key, (length, rows)) in enumerate(sentences.items()):
        own = rounded if fits[place] else computed
        for row in rows:
            layers[:, row, :length] = own[:, place, :length]
        if fits[place]:
            values[key] = stored[:, place, :length].numpy().tobytes()
    return values


def _sentences(ids: Tensor, mask: Tensor) -> dict[bytes, _Sentence]:
    """The sentences of ids [B, T, C] except empty ones, by a digest of their ids without padding."""
    sentences: dict[bytes, _Sentence] = {}
    rows = ids.cpu().contiguous().numpy()
    lengths = (rows > 0).any(2).sum(1).tolist()
    for row, (length, tokens) in enumerate(zip(lengths, rows, strict=True)):
        if length:
            slots = max(
                MAX_CHARACTERS, (tokens[:length] != PAD_WORD + 1).any(0).sum()
            )  # whatever the batch's width
            key = hashlib.blake2b(
                tokens[:length, :slots].tobytes(), digest_size=16
            ).digest()
            sentences.setdefault(key, _Sentence(length, [])).rows.append(row)
    return sentences
