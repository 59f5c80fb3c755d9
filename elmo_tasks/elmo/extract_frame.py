"""
The frame of a file of vectors: everything but the vectors, with room for them.

HDF5 lays out all datasets and nothing of it changes afterwards, so that vectors can be put into their places in any
order, and a process killed at any moment leaves a file that is sound.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

from elmo_tasks.atomic import atomic_write
from elmo_tasks.elmo.vectors import DONE, FORMAT, OFFSETS, SENTENCE_TO_INDEX, SENTENCES, TOKENS
from elmo_tasks.elmo.windows import windows
from elmo_tasks.errors import InputError

Lines = Iterable[tuple[int, str]]
"""Line numbers, counted from 1, and lines."""

_WAITING = 20_000
"""Tokens and sentences that are kept in memory until they go to the index."""

_SPARE, _AHEAD = 2**22, 2**24
"""Bytes of the disk that a frame reserves beyond what it needs next: for HDF5's own tables, and to do so rarely."""

_LINE_BYTES, _TOKEN_BYTES, _CHARACTER_BYTES = 64, 64, 4
"""What the index needs at most for a line and for a token besides their characters, and for a character."""

_LONGEST_JSON = 2**31 - 1

_CHUNK = 2**14


class Shape(NamedTuple):
    """
    What is written for a sentence.

    # Parameters

    layers : `int`, optional
        Layers of a token; `None` where there is one alone, without an axis of its own.
    width : `int`
        Of a vector.
    dtype : `np.dtype`
    """

    layers: int | None
    width: int
    dtype: np.dtype

    @property
    def token_bytes(self) -> int:
        """Bytes of a token's vectors."""
        return (self.layers or 1) * self.width * self.dtype.itemsize

    def of(self, length: int) -> tuple[int, ...]:
        """The shape of a sentence's dataset."""
        return (length, self.width) if self.layers is None else (self.layers, length, self.width)


class TextHash:
    """SHA-256 of the lines that went through: that of the file, where it is plain text that ends in a line feed."""

    def __init__(self) -> None:
        self._hash = sha256()

    def heard(self, lines: Lines) -> Iterator[tuple[int, str]]:
        """The same lines."""
        for number, line in lines:
            self._hash.update(line.encode() + b"\n")
            yield number, line

    def hexdigest(self) -> str:
        """Of the lines so far."""
        return self._hash.hexdigest()


def write_frame(
    file: Path,
    lines: Lines,
    *,
    parse: Callable[[str], list[str]],
    shape: Shape,
    settings: Mapping[str, str | int],
) -> None:
    """
    # Parameters

    file : `Path`
        Gets the frame; it is whole or absent.
    lines : `Lines`
        Read once and not kept.
    parse : `Callable`
        Gives the tokens of a line.
    settings : `Mapping`
        Attributes of the root; `input`, `max_length` and `overlap` are among them.

    # Raises

    `InputError`
        At its line, where a line is faulty; where there is no line, or the disk has no room for the vectors.
    """
    heard = TextHash()
    with atomic_write(file) as aside, _room(aside) as room, _json_of_sentences(file.parent) as json_file:
        frame = _Frame(room, shape, settings, json_file)
        for number, line in heard.heard(lines):
            frame.add(line.strip(), _parsed(parse, line, file=settings["input"], number=number))
        frame.finish()
        room.hdf5.attrs.update({"format": FORMAT, **settings, **frame.counts, "text_sha256": heard.hexdigest()})


def _parsed(parse: Callable[[str], list[str]], line: str, *, file: object, number: int) -> list[str]:
    try:
        tokens = parse(line)
    except InputError as error:
        raise InputError(str(error), file=str(file), line=number) from None
    if any("\0" in token for token in tokens):
        raise InputError("a token holds a NUL character, which HDF5 cannot keep", file=str(file), line=number)
    return tokens


@contextmanager
def _json_of_sentences(folder: Path) -> Iterator[IO[bytes]]:
    """A file without a name, so that nothing is left of it whatever happens."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        yield file


@contextmanager
def _room(file: Path) -> Iterator["_Room"]:
    """A new HDF5 file, with room on the disk reserved; what it does not need of that is given back at the end."""
    require_room(file, _SPARE + _AHEAD, held=0)
    with file.open("wb") as raw:
        _reserve(raw.fileno(), 0, _SPARE)  # HDF5 empties the file again, but fails less clearly without room
        with h5py.File(file, "w") as hdf5:
            room = _Room(hdf5, raw.fileno())
            room.require(0)
            yield room
            hdf5.flush()
            raw.truncate(hdf5.id.get_filesize())


class _Room:
    """Room on the disk that is reserved before HDF5 writes there: it crashes the process when it cannot write."""

    def __init__(self, hdf5: h5py.File, descriptor: int) -> None:
        self.hdf5, self._descriptor, self._end = hdf5, descriptor, 0

    def require(self, size: int) -> None:
        """
        For `size` bytes more than HDF5 has laid out.

        # Raises

        `InputError` or `OSError` where there is no room for them.
        """
        end = self.hdf5.id.get_filesize() + size + _SPARE
        if end > self._end:
            end += _AHEAD
            require_room(Path(self.hdf5.filename), end, held=self._end)
            _reserve(self._descriptor, self._end, end - self._end)
            self._end = end


class _Column:
    """A dataset of the index that grows, and what waits for its place there."""

    def __init__(self, hdf5: h5py.File, name: str, dtype: np.dtype, waiting: Sequence[str | int] = ()) -> None:
        self._dataset = hdf5.create_dataset(name, (0,), maxshape=(None,), chunks=(_CHUNK,), dtype=dtype)
        self.waiting = list(waiting)

    def flush(self) -> None:
        if self.waiting:
            start = len(self._dataset)
            self._dataset.resize((start + len(self.waiting),))
            self._dataset[start:] = self.waiting
            self.waiting.clear()


class _Frame:
    """The frame while it grows by sentences."""

    def __init__(self, room: _Room, shape: Shape, settings: Mapping[str, str | int], json_file: IO[bytes]) -> None:
        self._room, self._shape, self._json, self._unwritten = room, shape, json_file, 0
        self._hdf5 = hdf5 = room.hdf5
        self._limit, self._overlap = int(settings["max_length"]), int(settings["overlap"])
        text = h5py.string_dtype()
        self._tokens, self._sentences = _Column(hdf5, TOKENS, text), _Column(hdf5, SENTENCES, text)
        self._offsets = _Column(hdf5, OFFSETS, np.dtype("<i8"), [0])
        self._vectors, self._layout = h5t.py_create(shape.dtype), _contiguous()
        self.counts = {"sentences": 0, "tokens": 0, "pieces": 0, "blank_lines": 0, "long_lines": 0}
        self._create(DONE, h5t.STD_I64LE, (1,))

    def add(self, sentence: str, tokens: list[str]) -> None:
        """One more line."""
        characters = len(sentence) + sum(map(len, tokens))
        self._unwritten += _CHARACTER_BYTES * characters + _TOKEN_BYTES * (len(tokens) + 1)
        lines = _LINE_BYTES * self.counts["sentences"]  # the table of all names is doubled at once
        self._room.require(len(tokens) * self._shape.token_bytes + self._unwritten + lines)
        name, pieces = str(self.counts["sentences"]), windows(len(tokens), limit=self._limit, overlap=self._overlap)
        self._create(name, self._vectors, self._shape.of(len(tokens)))
        self._count(len(tokens), len(pieces))
        self._tokens.waiting += tokens
        self._sentences.waiting.append(sentence)
        self._offsets.waiting.append(self.counts["tokens"])
        if tokens:
            lead = "{" if self._json.tell() == 0 else ", "
            self._json.write(f"{lead}{json.dumps(sentence)}: {json.dumps(name)}".encode())
        if len(self._tokens.waiting) + len(self._sentences.waiting) > _WAITING:
            self._flush()

    def finish(self) -> None:
        """
        # Raises

        `InputError` where there was no line.
        """
        if not self.counts["sentences"]:
            raise InputError("a sentence or more was wanted, the input has no line")
        self._flush()
        self._json.write(b"}" if self._json.tell() else b"{}")
        size = self._json.tell()
        if size > _LONGEST_JSON:
            raise InputError("more than 2 GiB of text is too much for one file of vectors", hint="split the input")
        self._json.flush()
        self._room.require(size)
        mapped = np.memmap(self._json, dtype=f"S{size}", mode="r", shape=(1,))
        self._hdf5.create_dataset(SENTENCE_TO_INDEX, data=mapped)
        self._hdf5[DONE][0] = 0

    def _count(self, length: int, pieces: int) -> None:
        added = (1, length, pieces, int(not length), int(pieces > 1))
        for name, more in zip(self.counts, added, strict=True):
            self.counts[name] += more

    def _create(self, name: str, kind: h5t.TypeID, shape: tuple[int, ...]) -> None:
        h5d.create(self._hdf5.id, name.encode(), kind, h5s.create_simple(shape), self._layout)

    def _flush(self) -> None:
        for column in (self._tokens, self._sentences, self._offsets):
            column.flush()
        self._unwritten = 0


def require_room(file: Path, size: int, *, held: int) -> None:
    """
    # Raises

    `InputError` where the disk has no room for a file of `size` bytes that holds `held` bytes of it already.
    """
    room = held + shutil.disk_usage(file.parent).free
    if size > room:
        problem = f"expected room for {_shown(size)} or more of vectors on the disk, got {_shown(room)}"
        raise InputError(problem, file=file.parent, hint="--float16, --top and --average need less")


def _shown(size: int) -> str:
    power = min(3, (len(str(size)) - 1) // 3)
    return f"{size / 1000**power:,.1f} {('bytes', 'kB', 'MB', 'GB')[power]}"


def _reserve(descriptor: int, start: int, size: int) -> None:
    if sys.platform != "darwin":  # which has no such call
        os.posix_fallocate(descriptor, start, size)


def _contiguous() -> h5p.PropDCID:
    """Room that HDF5 sets aside at once and never touches; no times, so that the same input makes the same bytes."""
    layout = h5p.create(h5p.DATASET_CREATE)
    layout.set_layout(h5d.CONTIGUOUS)
    layout.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    layout.set_fill_time(h5d.FILL_TIME_NEVER)
    layout.set_obj_track_times(False)
    return layout
