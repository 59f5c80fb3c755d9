"""
The layer cache's files: values of bytes by keys of 16 bytes, in segments that one writer each appends to and all read.

A segment is a pair of files: `<name>.layers` holds values end to end, `<name>.index` a record for each. A record is
written after its value, so that a process killed at any moment leaves values without a record, or the first part of a
record; nobody reads either.
"""

import mmap
import os
import secrets
import struct
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

INDEX, VALUES = ".index", ".layers"
"""Suffixes of a segment's two files."""

KEY_BYTES = 16

_RECORD = struct.Struct(f"<{KEY_BYTES}sQQII")
"""Key, offset and length of the value in bytes, the value's CRC-32, and the CRC-32 of all that."""

_CHECKED = _RECORD.size - 4

RECORD_BYTES = _RECORD.size


class Record(NamedTuple):
    """
    Where a value stands.

    # Parameters

    segment : `Segment`
    offset, length : `int`
        In bytes.
    checksum : `int`
        CRC-32 of the value.
    """

    segment: "Segment"
    offset: int
    length: int
    checksum: int


class Segment:
    """
    A pair of files, as its readers see it.

    # Parameters

    index : `Path`
        The file of its records.
    """

    def __init__(self, index: Path) -> None:
        self.index, self.values = index, index.with_suffix(VALUES)
        self._read = 0  # bytes of the index
        self._map: mmap.mmap | None = None

    def new_records(self, size: int) -> Iterator[tuple[bytes, Record | None]]:
        """
        Keys and records that came since the last call; `None` for a record that does not match its checksum.

        # Parameters

        size : `int`
            Bytes of the index; nothing is read where it has not grown.

        # Raises

        `OSError` where the index cannot be read, or is gone.
        """
        if size - self._read < _RECORD.size:
            return
        with self.index.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = len(data) - len(data) % _RECORD.size
        self._read += whole
        for start in range(0, whole, _RECORD.size):
            key, offset, length, checksum, own = _RECORD.unpack_from(data, start)
            sound = own == crc32(data[start : start + _CHECKED])
            yield key, Record(self, offset, length, checksum) if sound else None

    def value(self, record: Record) -> memoryview | None:
        """
        The bytes of a record's value, mapped from the file and not checked; `None` where the file is too short.

        # Raises

        `OSError` where the file cannot be mapped, or is gone.
        """
        end = record.offset + record.length
        if self._map is None or end > len(self._map):
            self._map = self._mapped()
        if self._map is None or end > len(self._map):
            return None
        return memoryview(self._map)[record.offset : end]

    def _mapped(self) -> mmap.mmap | None:
        with self.values.open("rb") as file:
            empty = not os.fstat(file.fileno()).st_size
            return None if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


class SegmentStore:
    """
    All segments of a folder, and the one that this thread of this process appends to.

    What other processes write is seen after `refresh`. Where several have written the same key, the first that was
    seen is read for as long as it is sound.

    # Parameters

    folder : `Path`
        Need not exist before the first `add`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._segments: dict[str, Segment] = {}
        self._records: dict[bytes, Record] = {}
        self._others: dict[bytes, list[Record]] = {}  # of keys that were written more than once
        self._sound: set[bytes] = set()  # keys whose record's value matched its checksum
        self.damaged = 0  # records and values found so far that do not match their checksum
        self._own: dict[tuple[int, int], Path] = {}  # indexes by process and thread: a fork begins its own
        self.refresh()

    def __len__(self) -> int:
        return len(self._records)

    def lengths(self) -> dict[bytes, int]:
        """Bytes of all values seen so far, by key, whether they are sound or not."""
        return {key: record.length for key, record in self._records.items()}

    def refresh(self) -> None:
        """Take in what came to the folder since."""
        for name, size in _sizes(self.folder).items():
            if name.endswith(INDEX):
                self._take(name, size)

    def get(self, key: bytes, *, length: int) -> memoryview | None:
        """The value of a key, checked when it is first read; `None` where there is none, or none that is sound."""
        while (record := self._records.get(key)) is not None:
            try:
                value = record.segment.value(record) if record.length == length else None
            except OSError:  # somebody removed the file
                self._forget(key)
                continue
            if value is not None and (key in self._sound or crc32(value) == record.checksum):
                self._sound.add(key)
                return value
            self.damaged += 1
            self._forget(key)
        return None

    def add(self, values: Mapping[bytes, bytes]) -> None:
        """
        Append values to the caller's own segment, which the first call makes.

        # Raises

        `OSError` where that fails. What is in the folder is then as good as before.
        """
        writer = os.getpid(), threading.get_ident()
        index = self._own.get(writer)
        if index is None or not index.exists():  # the first call, or somebody has cleared the folder
            index = self._own[writer] = _create(self.folder)
        _append(index, values)
        self._take(index.name, index.stat().st_size)

    def _take(self, name: str, size: int) -> None:
        segment = self._segments.setdefault(name, Segment(self.folder / name))
        try:
            for key, record in segment.new_records(size):
                if record is None:
                    self.damaged += 1
                elif self._records.setdefault(key, record) is not record:
                    self._others.setdefault(key, []).append(record)
        except OSError:  # removed since, or not for us to read: as if it were not there
            return

    def _forget(self, key: bytes) -> None:
        self._sound.discard(key)
        others = self._others.get(key)
        if others:
            self._records[key] = others.pop(0)
        else:
            del self._records[key]


def bytes_in(folder: Path) -> int:
    """Bytes of a folder's segments."""
    return sum(_sizes(folder).values())


def remove_segments(folder: Path) -> None:
    """
    Remove a folder's segments. Who reads one goes on reading it; who writes one starts another.

    # Raises

    `OSError` where a file cannot be removed.
    """
    for name in _sizes(folder):  # in order: of each pair the index first
        (folder / name).unlink(missing_ok=True)


def _sizes(folder: Path) -> dict[str, int]:
    """Bytes of each file of the folder's segments, by name and in its order."""
    sizes = {}
    with suppress(OSError), os.scandir(folder) as entries:  # not there yet, or not for us to read
        for entry in entries:
            with suppress(FileNotFoundError):  # removed while we looked
                if entry.name.endswith((INDEX, VALUES)):
                    sizes[entry.name] = entry.stat().st_size
    return dict(sorted(sizes.items()))


def _create(folder: Path) -> Path:
    """A new, empty segment under a name that nobody else has; its index."""
    folder.mkdir(parents=True, exist_ok=True)
    index = folder / f"{os.getpid()}-{secrets.token_hex(8)}{INDEX}"
    index.with_suffix(VALUES).open("xb").close()
    index.open("xb").close()
    return index


def _append(index: Path, values: Mapping[bytes, bytes]) -> None:
    """Values first, then their records; nothing that a reader may know of is ever written over."""
    with index.with_suffix(VALUES).open("rb+", buffering=0) as file:
        start = file.seek(0, os.SEEK_END)
        try:
            _write(file, list(values.values()))
        except OSError:
            file.truncate(start)  # no record knows of it
            raise
    records = []
    for key, value in values.items():
        record = _RECORD.pack(key, start, len(value), crc32(value), 0)[:_CHECKED]
        records.append(record + struct.pack("<I", crc32(record)))
        start += len(value)
    with index.open("rb+", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(end - end % _RECORD.size)  # over part of a record, which an interrupt may have left
        _write(file, records)


def _write(file: FileIO, parts: Sequence[bytes]) -> None:
    """All of it, whatever number of calls that takes."""
    rest = memoryview(b"".join(parts))
    while rest:
        rest = rest[file.write(rest) :]
