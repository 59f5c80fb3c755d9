"""Write the vectors of a text to an HDF5 file, and resume after an interruption."""

import json
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from io import BufferedReader
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import h5py
import numpy as np
from filelock import FileLock, Timeout

from elmo_tasks.elmo.batching import BatchSizes, Piece, embed_pieces
from elmo_tasks.elmo.hdf5_layout import COUNTS, VectorLayout
from elmo_tasks.elmo.hdf5_reader import DONE, FORMAT, OFFSETS, SCALES, ElmoVectors, read_attributes, reading_vectors
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.vector_settings import require_same, vector_settings
from elmo_tasks.errors import InputError
from elmo_tasks.files import atomic_write, check_output_path
from elmo_tasks.formats.hdf5 import DiskFile, open_hdf5, own_dataset

Lines = Iterable[tuple[int, str]]
"""Line numbers, counted from 1, and lines."""

_PART = ".part"
_SORTED_SENTENCES = 2**12  # sentences that are sorted by length together
_SECONDS_BETWEEN_SAVES = 2.0

_ORDER = {"sorted_sentences": _SORTED_SENTENCES}
"""An attribute on which the order of the windows depends: a call must not resume a file with another order."""


def write_vectors(
    model: VectorModel,
    lines: Lines,
    out: str | Path,
    *,
    sizes: BatchSizes | None = None,
    parse: Callable[[str], list[str]] = str.split,
    settings: Mapping[str, str | int] | None = None,
    force: bool = False,
    started: Callable[[Mapping[str, int]], None] = lambda counts: None,
    progress: Callable[[int], None] = lambda tokens: None,
) -> bool:
    """
    Write the vectors of all lines to `out`, which is called `out.part` until it is complete.

    If `out.part` exists, the call resumes; if `out` is complete, it returns. Both must be from a call with the same
    text and settings.

    # Parameters

    - `lines`: read once. Their tokens are kept in a temporary file in the folder of `out`, not in memory.
    - `parse`: splits a line into tokens.
    - `settings`: further attributes of the file: `input`, `options_sha256`, `weights_sha256`, `tokenizer`, ...
    - `force`: discard a partial result and start from scratch. An existing `out` is replaced when the new file is
      complete.
    - `started`: called with the numbers of sentences, tokens, blank and long lines before the first vector is computed.
    - `progress`: called with the number of tokens whose vectors have been written since the last call.

    Returns whether anything was written. Raises `InputError` if a line is invalid, a file exists from another call,
    another process writes to it, or the disk is full.
    """
    check_vector_path(out)
    out, part, sizes = Path(out), _part(out), sizes or BatchSizes()
    attributes = vector_settings(model, sizes, settings or {})
    with _side_file(part) as tokens:
        text = _Text(lines, parse, str(attributes.get("input", "text")), tokens)
        if out.exists() and not force:
            with ElmoVectors(out) as vectors:
                _check_same(out, vectors.info, attributes, text)
            return False
        resumed = part.exists() and not force
        if not resumed:
            _create(part, text, model, sizes, attributes)
        with _open_part(part) as (file, hdf5):
            found = read_attributes(hdf5, part)
            if resumed:
                _check_same(part, found, {**attributes, **_ORDER}, text)
            started({name: int(found[name]) for name in COUNTS})
            VectorWriter(hdf5, file, progress).write_all(text.tokens(), model, sizes)
            _rename(file, out)
    return True


def check_vector_path(out: str | Path, *, read: Iterable[str | Path | None] = ()) -> None:
    """Raise `InputError` if `out` or `out.part` cannot be written, or is one of the files in `read`."""
    if Path(out).suffix == _PART:
        raise InputError(f"expected a file name that does not end in {_PART}", file=out)
    files = list(read)
    check_output_path(out, read=files)
    check_output_path(_part(out), read=files)


def _part(out: str | Path) -> Path:
    return Path(out).with_name(Path(out).name + _PART)


@contextmanager
def _side_file(part: Path) -> Iterator[DiskFile]:
    """A temporary file without a name in the same folder."""
    part.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=part.parent) as temporary, DiskFile(os.dup(temporary.fileno()), "r+", part) as file:
        yield file


class _Text:
    """Lines, which are read once, and their tokens, which are kept in a file."""

    def __init__(self, lines: Lines, parse: Callable[[str], list[str]], name: str, file: DiskFile) -> None:
        self._lines, self._parse, self._name, self._file = lines, parse, name, file
        self.sha256: str | None = None  # known after `read`

    def read(self) -> Iterator[tuple[str, list[str]]]:
        """The lines and their tokens."""
        digest = sha256()
        for number, line in self._lines:
            digest.update(line.encode() + b"\n")
            try:
                tokens = self._parse(line)
                if any("\0" in token for token in tokens):
                    raise InputError("HDF5 cannot store a token with a NUL character")
            except InputError as error:
                raise InputError(str(error), file=self._name, line=number) from None
            self._file.write(json.dumps(tokens).encode() + b"\n")
            self._file.check()
            yield line, tokens
        self.sha256 = digest.hexdigest()

    def tokens(self) -> Iterator[list[str]]:
        """The tokens of the lines that have been read."""
        self._file.seek(0)
        with BufferedReader(self._file) as file:
            yield from map(json.loads, file)


def _check_same(file: Path, found: Mapping[str, Any], expected: Mapping[str, Any], text: _Text) -> None:
    """Raise `InputError` if the attributes `found` of a file are not those expected, or its text is not this one."""
    require_same(found, expected, file=file)
    deque(text.read(), maxlen=0)
    require_same(found, {"text_sha256": text.sha256}, file=file)


def _create(
    part: Path, text: _Text, model: VectorModel, sizes: BatchSizes, attributes: Mapping[str, str | int]
) -> None:
    """Write all of the file but the vectors, and reserve their space."""
    with atomic_write(part) as temporary, DiskFile(temporary, "w+", part) as file:
        with open_hdf5(file, "w") as hdf5:
            layout = VectorLayout(hdf5, model, sizes)
            for line, tokens in text.read():
                layout.add(line, tokens)
                file.check()
            layout.finish()
            found = {**attributes, **_ORDER, **layout.counts, "text_sha256": text.sha256}
            hdf5.attrs.update({"format": FORMAT, **found})
        file.reserve()


@contextmanager
def _open_part(part: Path) -> Iterator[tuple[DiskFile, h5py.File]]:
    """Open an existing file for writing, unless another process does."""
    lock = part.with_name(f"{part.name}.lock")
    with ExitStack() as stack:
        try:
            stack.enter_context(FileLock(lock, timeout=0))
            stack.callback(_unlink, lock)
            file = stack.enter_context(DiskFile(part, "r+", part))
        except Timeout:
            raise InputError("another process is writing this file", file=part) from None
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", file=part) from None
        with open_hdf5(file, "r+") as hdf5:
            yield file, hdf5


def _unlink(lock: Path) -> None:
    with suppress(OSError):  # Windows removes it on release
        lock.unlink()


def _rename(file: DiskFile, out: Path) -> None:
    try:
        if not os.path.samestat(os.fstat(file.fileno()), file.path.stat()):
            raise InputError("the file was replaced by another process", file=file.path)
        file.path.replace(out)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=out) from None


class VectorWriter:
    """Writes the vectors of windows in an order that depends on the text alone, and counts them in `DONE`."""

    def __init__(self, hdf5: h5py.File, file: DiskFile, progress: Callable[[int], None]) -> None:
        self._hdf5, self._file, self._progress = hdf5, file, progress
        with reading_vectors(file.path):
            self._done = int(own_dataset(hdf5, DONE)[0])
        self._saved = time.monotonic()

    def write_all(self, lines: Iterator[list[str]], model: VectorModel, sizes: BatchSizes) -> None:
        """Write the vectors that are missing, of the tokens of all lines."""
        skipped, start = self._done, 0
        while sentences := list(islice(lines, _SORTED_SENTENCES)):
            pieces = sizes.pieces(sentences)
            self._report(pieces[:skipped])
            names = [f"line {start + number}" for number in range(1, len(sentences) + 1)]
            for batch in embed_pieces(model, sizes, pieces[skipped:], sentences, names=names):
                self._write(batch, start)
            skipped, start = max(0, skipped - len(pieces)), start + len(sentences)
        self._save()

    def _write(self, batch: list[tuple[Piece, np.ndarray]], start: int) -> None:
        """Write the vectors of pieces of the sentences from `start`."""
        for (sentence, (_, _, first, last)), values in batch:
            with reading_vectors(self._file.path):
                dataset = own_dataset(self._hdf5, str(start + sentence))
                if dataset.dtype == np.int8:
                    token = int(own_dataset(self._hdf5, OFFSETS)[start + sentence])
                    values, scales = quantized(values)
                    own_dataset(self._hdf5, SCALES)[token + first : token + last] = np.atleast_2d(scales).T
                dataset[..., first:last, :] = values
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


def quantized(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors [..., D] as int8, and their scales [...], float32: the largest absolute value is 127 times the scale."""
    scales = np.abs(vectors).max(-1) / np.float32(127)
    return np.rint(vectors / np.where(scales > 0, scales, 1)[..., None]).astype(np.int8), scales
