"""
The parts of `extract` that write HDF5: first all datasets and their disk space, then the vectors.

Writing vectors changes no metadata of the file, so that it is intact whenever the process is killed.
"""

import io
import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

from elmo_tasks.elmo.extraction import Extraction, Piece, windows
from elmo_tasks.elmo.vectors import DONE, OFFSETS, SENTENCE_TO_INDEX, SENTENCES, TOKENS, reading_vectors
from elmo_tasks.errors import InputError
from elmo_tasks.hdf5 import own_dataset

COUNTS = ("sentences", "tokens", "pieces", "blank_lines", "long_lines")
"""Attributes of the file; a piece is a window of a sentence."""

_SORTED_SENTENCES = 2**12  # sentences that are sorted by length together
_BUFFERED = 20_000  # tokens and sentences in memory before they are written
_SECONDS_BETWEEN_SAVES = 2.0
_LONGEST_STRING = 2**31 - 1

ORDER = {"sorted_sentences": _SORTED_SENTENCES}
"""An attribute on which the order of the windows depends: a call must not resume a file with another order."""


class DiskFile(io.FileIO):
    """
    A file for h5py that records an error instead of raising it, since HDF5 crashes the process if it cannot write.

    The file `opened` is called `path` in errors.
    """

    def __init__(self, opened: Path, mode: str, path: Path) -> None:
        super().__init__(opened, mode)
        self.path = path
        self._error: OSError | None = None

    def __repr__(self) -> str:
        return str(self.path)  # h5py takes it for the name of the file

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self._error = self._error or error
        return size

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def check(self) -> None:
        """Raise `InputError` if a write has failed."""
        if self._error is not None:
            hint = "free some disk space and run the same command"
            raise InputError(f"cannot write: {self._error.strerror}", file=self.path, hint=hint) from None

    def reserve(self) -> None:
        """Allocate the disk space of the whole file, where the system can."""
        if not hasattr(os, "posix_fallocate"):
            return
        size = os.fstat(self.fileno()).st_size
        try:
            os.posix_fallocate(self.fileno(), 0, size)
        except OSError as error:
            problem = f"cannot reserve {size:,} bytes of disk space: {error.strerror}"
            raise InputError(problem, file=self.path, hint="--float16, --top and --average need less") from None


@contextmanager
def open_hdf5(file: DiskFile, mode: str) -> Iterator[h5py.File]:
    """Open a file with h5py. Raises `InputError` for a write error inside the block, or a damaged file."""
    try:
        with reading_vectors(file.path):
            hdf5 = h5py.File(file, mode)
        with hdf5:
            yield hdf5
    except Exception:
        file.check()
        raise
    file.check()


class VectorLayout:
    """All datasets of a file of vectors, which are created line by line."""

    def __init__(self, hdf5: h5py.File, extraction: Extraction) -> None:
        self._hdf5, self._extraction = hdf5, extraction
        self._buffers: dict[str, list[Any]] = {TOKENS: [], SENTENCES: [], OFFSETS: [0]}
        for name in self._buffers:
            dtype = np.dtype("<i8") if name == OFFSETS else h5py.string_dtype()
            hdf5.create_dataset(name, (0,), maxshape=(None,), chunks=(2**14,), dtype=dtype)
        self._dtype, self._contiguous = h5t.py_create(extraction.dtype), _contiguous()
        self._json = bytearray(b"{")
        self.counts = dict.fromkeys(COUNTS, 0)

    def add(self, line: str) -> None:
        """Create the dataset of a line."""
        tokens, sentence, name = self._extraction.parse(line), line.strip(), str(self.counts["sentences"])
        if any("\0" in token for token in tokens):
            raise InputError("HDF5 cannot store a token with a NUL character")
        space = h5s.create_simple(self._extraction.shape(len(tokens)))
        h5d.create(self._hdf5.id, name.encode(), self._dtype, space, self._contiguous)
        if tokens:
            separator = ", " if len(self._json) > 1 else ""
            self._json += f'{separator}{json.dumps(sentence)}: "{name}"'.encode()
        self._count(len(tokens))
        self._buffers[TOKENS] += tokens
        self._buffers[SENTENCES].append(sentence)
        self._buffers[OFFSETS].append(self.counts["tokens"])
        if sum(map(len, self._buffers.values())) > _BUFFERED:
            self._flush()

    def finish(self) -> None:
        """Create the other datasets."""
        if not self.counts["sentences"]:
            raise InputError("expected at least one sentence, got none")
        if len(self._json) > _LONGEST_STRING:
            raise InputError("expected less than 2 GiB of text", hint="split the input")
        self._flush()
        self._hdf5.create_dataset(SENTENCE_TO_INDEX, (1,), h5py.string_dtype())[0] = bytes(self._json + b"}")
        self._hdf5.create_dataset(DONE, data=np.zeros(1, "<i8"))

    def _count(self, length: int) -> None:
        pieces = len(windows(length, limit=self._extraction.max_length, overlap=self._extraction.overlap))
        for name, more in zip(COUNTS, (1, length, pieces, not length, pieces > 1), strict=True):
            self.counts[name] += more

    def _flush(self) -> None:
        for name, values in self._buffers.items():
            if values:
                dataset = self._hdf5[name]
                start = len(dataset)
                dataset.resize((start + len(values),))
                dataset[start:] = values
                values.clear()


def _contiguous() -> h5p.PropDCID:
    """Properties of a dataset whose space is allocated at once, and whose metadata never changes afterwards."""
    properties = h5p.create(h5p.DATASET_CREATE)
    properties.set_layout(h5d.CONTIGUOUS)
    properties.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5d.FILL_TIME_NEVER)
    properties.set_obj_track_times(False)
    return properties


class VectorWriter:
    """Writes the vectors of windows in an order that depends on the text alone, and counts them in `DONE`."""

    def __init__(
        self,
        hdf5: h5py.File,
        file: DiskFile,
        extraction: Extraction,
        progress: Callable[[int], None],
        pool: Executor | None = None,
    ) -> None:
        self._hdf5, self._file, self._extraction, self._progress, self._pool = hdf5, file, extraction, progress, pool
        self._done = int(self._read(DONE, slice(1))[0])
        self._saved = time.monotonic()

    def write_all(self) -> None:
        """Write the vectors that are missing."""
        skipped, start = self._done, 0
        while len(offsets := self._read(OFFSETS, slice(start, start + _SORTED_SENTENCES + 1)).tolist()) > 1:
            pieces = self._extraction.pieces([end - begin for begin, end in pairwise(offsets)])
            self._report(pieces[:skipped])
            if skipped < len(pieces):
                tokens = self._read(TOKENS, slice(offsets[0], offsets[-1])).tolist()
                sentences = [tokens[begin - offsets[0] : end - offsets[0]] for begin, end in pairwise(offsets)]
                self._write(pieces[skipped:], sentences, start)
            skipped, start = max(0, skipped - len(pieces)), start + _SORTED_SENTENCES
        self._save()

    def _write(self, pieces: list[Piece], sentences: list[list[str]], start: int) -> None:
        """Write the vectors of pieces of the sentences from `start`."""
        for batch in self._extraction.batches(pieces, sentences, first=start, pool=self._pool):
            for (sentence, (_, _, first, last)), values in batch:
                with reading_vectors(self._file.path):
                    own_dataset(self._hdf5, str(start + sentence))[..., first:last, :] = values
            self._done += len(batch)
            if time.monotonic() - self._saved > _SECONDS_BETWEEN_SAVES:
                self._save()
            self._report([piece for piece, _ in batch])

    def _save(self) -> None:
        """Count the vectors after they are safe on the disk, so that the count is never ahead of them."""
        self._sync()
        with reading_vectors(self._file.path):
            own_dataset(self._hdf5, DONE)[0] = self._done
        self._sync()
        self._saved = time.monotonic()

    def _sync(self) -> None:
        self._hdf5.flush()
        self._file.check()
        os.fsync(self._file.fileno())

    def _report(self, pieces: list[Piece]) -> None:
        self._progress(sum(window.last - window.first for _, window in pieces))

    def _read(self, name: str, part: slice) -> np.ndarray:
        with reading_vectors(self._file.path):
            dataset = own_dataset(self._hdf5, name)
            return (dataset.asstr() if name == TOKENS else dataset)[part]
