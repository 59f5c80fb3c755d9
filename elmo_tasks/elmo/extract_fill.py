"""Vectors into their places in a frame, in batches of similar length."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np

from elmo_tasks.batches import batches_by_length
from elmo_tasks.elmo.extract_frame import require_room
from elmo_tasks.elmo.extraction import Extraction
from elmo_tasks.elmo.vectors import DONE, OFFSETS, TOKENS, open_vectors, reading_vectors
from elmo_tasks.elmo.windows import Window, windows
from elmo_tasks.errors import InputError
from elmo_tasks.hdf5 import own_dataset

_POOL_TOKENS, _POOL_SENTENCES = 2**16, 2**13
"""Sentences that are sorted by length together: a part of the file that depends on nothing but the text."""

_SECONDS_APART = 2.0
"""Between two moments at which what is there is made safe against a loss of power."""

_COUNTS = ("sentences", "tokens", "blank_lines", "long_lines")


class Progress(NamedTuple):
    """
    # Parameters

    tokens, all_tokens : `int`
        Whose vectors are there, earlier calls counted; and in all.
    fresh_tokens : `int`
        Of this call.
    seconds : `float`
        Of this call.
    """

    tokens: int
    all_tokens: int
    fresh_tokens: int
    seconds: float


@contextmanager
def filling(part: Path) -> Iterator["VectorWriter"]:
    """
    A frame, opened for writing.

    # Raises

    `InputError` where it cannot be written, or another process does so.
    """
    with _locked(part) as raw, open_vectors(part) as hdf5:
        yield VectorWriter(part, raw.fileno(), hdf5)


def _locked(part: Path) -> FileIO:
    try:
        raw = part.open("rb+", buffering=0)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=part) from None
    try:
        fcntl.flock(raw, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raw.close()
        raise InputError("another process is writing this file", file=part) from None
    return raw


class _Piece(NamedTuple):
    """
    A window of a sentence.

    # Parameters

    sentence : `int`
    place : `int`
        Of the sentence's first token, in its pool.
    length : `int`
        Tokens of the sentence.
    window : `Window`
    """

    sentence: int
    place: int
    length: int
    window: Window


class VectorWriter:
    """
    A frame that is being filled with vectors.

    The pieces come in an order that depends on the text alone, and `done` counts them, so that a call goes on behind
    those whose vectors are there. Vectors go to their places past HDF5, which laid them out and only reads here.
    """

    def __init__(self, part: Path, raw: int, hdf5: h5py.File) -> None:
        self._part, self._raw, self._hdf5 = part, raw, hdf5
        with reading_vectors(part):
            self.counts: dict[str, int] = {key: int(hdf5.attrs[key]) for key in _COUNTS}
            self._done = int(own_dataset(hdf5, DONE)[0])
        self._saved = time.monotonic()
        self._tokens = self._fresh = 0
        self._began = time.monotonic()

    def fill(self, extraction: Extraction, report: Callable[[Progress], None]) -> None:
        """All that is missing."""
        found = self._part.stat()
        require_room(self._part, found.st_size, held=512 * found.st_blocks)
        passed = 0
        for start, end in self._pools():
            pieces, text = self._pieces(start, end, extraction)
            skipped = min(max(self._done - passed, 0), len(pieces))
            self._tokens += sum(piece.window.last - piece.window.first for piece in pieces[:skipped])
            passed += len(pieces)
            if skipped < len(pieces):
                self._fill_pool(pieces[skipped:], self._read(TOKENS, text), extraction, report)
        self._save()

    def rename(self, out: Path) -> None:
        """
        # Raises

        `InputError` where somebody has put another file in the part's place.
        """
        try:
            os.fsync(self._raw)
            if os.fstat(self._raw).st_ino != self._part.stat().st_ino:
                raise InputError("another process has begun this file anew", file=self._part)
            self._part.replace(out)
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", file=out) from None

    def _pools(self) -> Iterator[tuple[int, int]]:
        """The sentences that are sorted together: first, and the one behind the last."""
        start = 0
        while start < self.counts["sentences"]:
            offsets = self._read(OFFSETS, slice(start, start + _POOL_SENTENCES + 1))
            fitting = int(np.searchsorted(offsets[1:] - offsets[0], _POOL_TOKENS, side="right"))
            yield start, start + max(1, fitting)
            start += max(1, fitting)

    def _pieces(self, start: int, end: int, extraction: Extraction) -> tuple[list[_Piece], slice]:
        """A pool's pieces, the shortest first, and which tokens of the file it has."""
        offsets = self._read(OFFSETS, slice(start, end + 1)).tolist()
        pieces = [
            _Piece(start + index, offset - offsets[0], following - offset, window)
            for index, (offset, following) in enumerate(zip(offsets, offsets[1:], strict=False))
            for window in windows(following - offset, limit=extraction.max_length, overlap=extraction.overlap)
        ]
        pieces.sort(key=_read_length)
        return pieces, slice(offsets[0], offsets[-1])

    def _fill_pool(
        self, pieces: list[_Piece], tokens: np.ndarray, extraction: Extraction, report: Callable[[Progress], None]
    ) -> None:
        lengths = [_read_length(piece) for piece in pieces]
        sizes = {"batch_size": extraction.batch_size, "max_tokens": extraction.max_tokens}
        for places in batches_by_length(lengths, **sizes):
            batch = [pieces[place] for place in places]
            sentences = [tokens[piece.place :][piece.window.start : piece.window.end].tolist() for piece in batch]
            self._write(batch, extraction.vectors(sentences, [f"line {piece.sentence + 1}" for piece in batch]))
            self._done += len(batch)
            self._count(batch)
            report(Progress(self._tokens, self.counts["tokens"], self._fresh, time.monotonic() - self._began))
            if time.monotonic() - self._saved > _SECONDS_APART:
                self._save()

    def _count(self, batch: list[_Piece]) -> None:
        kept = sum(piece.window.last - piece.window.first for piece in batch)
        self._tokens, self._fresh = self._tokens + kept, self._fresh + kept

    def _write(self, batch: list[_Piece], vectors: np.ndarray) -> None:
        """What is kept of vectors [L, B, T, D] to its places."""
        token_bytes = vectors.shape[3] * vectors.itemsize
        for row, piece in enumerate(batch):
            start, _, first, last = piece.window
            begin = self._offset(str(piece.sentence))
            for layer, rows in enumerate(vectors[:, row, first - start : last - start]):
                self._put(rows, begin + (layer * piece.length + first) * token_bytes)

    def _save(self) -> None:
        """The count after what it counts, so that it is never ahead of the vectors on the disk."""
        os.fsync(self._raw)
        self._put(np.array([self._done], "<i8"), self._offset(DONE))
        self._saved = time.monotonic()

    def _offset(self, name: str) -> int:
        """Where a dataset's bytes begin."""
        with reading_vectors(self._part):
            offset = own_dataset(self._hdf5, name).id.get_offset()
            if offset is None:
                raise TypeError(f"expected {name!r} to be contiguous")
            return offset

    def _read(self, name: str, part: slice) -> np.ndarray:
        with reading_vectors(self._part):
            dataset = own_dataset(self._hdf5, name)
            return (dataset.asstr() if name == TOKENS else dataset)[part]

    def _put(self, array: np.ndarray, offset: int) -> None:
        rest = memoryview(array.tobytes())
        try:
            while rest:
                written = os.pwrite(self._raw, rest, offset)
                rest, offset = rest[written:], offset + written
        except OSError as error:
            hint = "what is there is kept: the same command goes on"
            raise InputError(f"cannot write: {error.strerror}", file=self._part, hint=hint) from None


def _read_length(piece: _Piece) -> int:
    return piece.window.end - piece.window.start
