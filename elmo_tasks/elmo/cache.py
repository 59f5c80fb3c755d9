"""Character ids -> layers, read from disk where they were computed before: a frozen biLM behind a cache."""

import logging
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from elmo_tasks.elmo.bilm import BiLmOutput
from elmo_tasks.elmo.cache_batch import STORED, ComputedLayers, SentenceBatch
from elmo_tasks.elmo.cache_folder import CachedBiLm, total_bytes
from elmo_tasks.elmo.cache_segments import RECORD_BYTES, SegmentStore
from elmo_tasks.elmo.source import LayerSource, Source
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

DEFAULT_LIMIT_GB = 32.0

GIGABYTE = 10**9


class LayerCache:
    """
    The layers of sentences, kept on disk for all who embed them with the same biLM.

    Below `cache_dir` each biLM has a folder of its own, whose name is a hash of its files' sha256, its state mode, its
    precision and the stored type. A sentence's key is a digest of its tokens' character ids, so that neither its batch
    nor its padding matters. The files are opened at the first look-up, by each process for itself: a copy of this
    object shares the folder and nothing else.

    Layers are rounded to float16 whether they were read or have just been computed, so that a sentence's vectors do
    not depend on what the cache holds. A sentence with a value that float16 cannot hold is neither rounded nor stored.

    What goes wrong with the folder is told once in the log, and the run goes on: what is damaged is computed anew, and
    nothing more is written where writing fails or the limit is reached.

    # Parameters

    cache_dir : `str` or `Path`
        Made when the first sentence is written.
    source : `Source`
        Its files. Of CoVe, the word vectors stand where a biLM's options would.
    limit_gb : `float`
        How far all files below `cache_dir` may grow, in 10^9 bytes. Nothing is removed to make room. Processes that
        write at the same time may pass it by a batch each.
    """

    def __init__(self, cache_dir: str | Path, source: Source, *, limit_gb: float = DEFAULT_LIMIT_GB) -> None:
        self.cache_dir = Path(os.path.abspath(Path(cache_dir).expanduser()))
        self.limit = int(limit_gb * GIGABYTE)
        self._options, self._weights = source.companion, source.weight_file
        self._bilm: CachedBiLm | None = None
        self._store: SegmentStore | None = None
        self._writes = True
        self._told: set[str] = set()

    def __getstate__(self) -> dict[str, Any]:
        """What a copy begins with: nothing is open, nothing has been told."""
        return {**vars(self), "_bilm": None, "_store": None, "_writes": True, "_told": set()}

    def layers(self, bilm: LayerSource, ids: Tensor) -> BiLmOutput:
        """
        What `bilm(ids)` gives, rounded as said above. The biLM sees those sentences alone that are not in the cache.

        # Parameters

        bilm : `LayerSource`
            Loaded from the source's files.
        ids : `Tensor`, shape [B, T, 50]
        """
        batch = SentenceBatch.of(ids)
        if batch is None:
            return bilm(ids)
        store = self._opened(bilm)
        stored = torch.zeros(bilm.n_layers, *ids.shape[:2], bilm.output_dim, dtype=STORED)
        missing = self._look_up(store, batch, stored)
        computed = ComputedLayers.of(bilm, ids, batch, missing) if missing else None
        if computed is not None:
            self._write(store, computed.copy_rounded(batch, stored))
        layers = stored.to(ids.device).to(bilm.dtype)  # [L+1, B, T, 2P]
        if computed is not None:
            computed.copy_exact(batch, layers)
        return BiLmOutput(layers, batch.mask)

    def _opened(self, bilm: LayerSource) -> SegmentStore:
        """The store of this biLM; another one where it computes in another precision than before."""
        if self._store is None or self._bilm is None or self._bilm.precision != bilm.precision:
            self._bilm = self._describe(bilm)
            self._store = SegmentStore(self.cache_dir / self._bilm.folder_name)
            logger.info("layer cache %s: %d sentences of this biLM", self._store.folder, len(self._store))
        return self._store

    def _describe(self, bilm: LayerSource) -> CachedBiLm:
        return CachedBiLm(
            options_sha256=self._options.sha256,
            weights_sha256=self._weights.sha256,
            state=bilm.state,
            precision=bilm.precision,
            dtype=str(STORED).removeprefix("torch."),
            token_bytes=bilm.n_layers * bilm.output_dim * STORED.itemsize,
            options_file=self._options.path,
            weight_file=self._weights.path,
        )

    def _look_up(self, store: SegmentStore, batch: SentenceBatch, stored: Tensor) -> list[bytes]:
        """Copies what is there into `stored` [L+1, B, T, 2P]; the keys of what is not."""
        missing = batch.read(store, batch.rows, stored)
        if missing:
            store.refresh()
            missing = batch.read(store, missing, stored)
        if store.damaged:
            self._tell("layer cache %s: entries are damaged, and computed anew", store.folder)
        return missing

    def _write(self, store: SegmentStore, values: dict[bytes, bytes]) -> None:
        if not values or not self._writes or self._bilm is None:
            return
        size = sum(len(value) + RECORD_BYTES for value in values.values())
        try:
            if total_bytes(self.cache_dir) + size > self.limit:
                self._stop_writing(f"its limit of {self.limit / GIGABYTE:g} GB is reached")
                return
            self._bilm.write_to(store.folder)
            store.add(values)
        except (OSError, InputError) as error:
            self._stop_writing(str(error))

    def _stop_writing(self, reason: str) -> None:
        self._writes = False
        self._tell("layer cache %s: nothing more is written, the run goes on: %s", self.cache_dir, reason)

    def _tell(self, message: str, *arguments: object) -> None:
        """Once each."""
        if message not in self._told:
            self._told.add(message)
            logger.warning(message, *arguments)
