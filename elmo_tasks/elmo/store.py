"""
The store of frozen layers: values appended to one file, and a table of their keys and places in another.

The layer cache finds sentences by a digest, and the probes' index has those of a corpus in order, without gaps. One
process at a time writes, and a value is on the disk before its row is in the table: a kill loses no row, and what it
leaves behind the last value is overwritten. Values have checksums, and reading a truncated file does not end the
process, as mapped memory would.
"""

import fcntl
import logging
import os
import secrets
import shutil
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from struct import Struct
from zlib import crc32

logger = logging.getLogger(__name__)

VALUES, TABLE = "values", "table"

_ROW = Struct("<16sQII")
"""Key, start, size in bytes, and CRC-32."""

ROW_BYTES = _ROW.size

LOCK = threading.RLock()
"""Held while a store is used, so that no other thread closes it meanwhile, or forks."""


class LayerStore:
    """
    An open store in a folder, of bytes by keys of 16 bytes; memory holds the table.

    # Parameters

    - `create`: whether to create folder and files.

    All methods raise `OSError` if the files cannot be read or written.
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = folder
        if create:
            folder.mkdir(parents=True, exist_ok=True)
            for name in (VALUES, TABLE):
                (folder / name).touch()
        _register_fork_hooks()
        self._table, self._values = (os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC) for name in (TABLE, VALUES))
        self._rows, self._row_of = bytearray(), dict[bytes, int]()
        self._sound = bytearray()  # by row: whether the checksum has been compared
        self._warned = False
        with LOCK:
            self._refresh()

    def __len__(self) -> int:
        """The number of keys."""
        return len(self._row_of)

    @property
    def is_current(self) -> bool:
        """Whether its files are still those in the folder, and not removed."""
        with suppress(OSError):
            return os.path.samestat(os.fstat(self._table), (self.folder / TABLE).stat())
        return False

    def read(self, sizes: Mapping[bytes, int]) -> dict[bytes, bytes]:
        """The undamaged values of keys, of which `sizes` gives the expected bytes."""
        found = {}
        with LOCK:
            if not sizes.keys() <= self._row_of.keys():
                self._refresh()
            for key, size in sizes.items():
                value = self._value(key, size)
                if value is not None:
                    found[key] = value
                elif key in self._row_of and not self._warned:
                    self._warned = True
                    logger.warning("layer cache %s: damaged entries are computed again", self.folder)
        return found

    def write(self, values: Mapping[bytes, bytes]) -> None:
        """Append values in order. An undamaged value of the same key is kept. Does nothing once it was removed."""
        with LOCK, suppress(FileNotFoundError), (self.folder / TABLE).open("r+b") as table:
            fcntl.flock(table, fcntl.LOCK_EX)  # until it is closed
            self._refresh()
            new = {key: value for key, value in values.items() if self._value(key, len(value)) is None}
            if not new or not self.is_current:
                return
            with (self.folder / VALUES).open("r+b") as file:
                start = file.seek(self._end())
                file.truncate()
                file.writelines(new.values())
                file.flush()
                os.fsync(file.fileno())
            table.seek(len(self._rows))
            for key, value in new.items():
                table.write(_ROW.pack(key, start, len(value), _checksum(key, value)))
                start += len(value)
            table.flush()
            self._refresh()

    def verify(self) -> tuple[int, int, int]:
        """The number of undamaged values, the sum of their bytes, and the number of damaged ones; reads everything."""
        with LOCK:
            self._refresh()
            sizes = {key: _ROW.unpack_from(self._rows, row * ROW_BYTES)[2] for key, row in self._row_of.items()}
            sound = [size for key, size in sizes.items() if self._value(key, size) is not None]
        return len(sound), sum(sound), len(sizes) - len(sound)

    def close(self) -> None:
        os.close(self._table)
        os.close(self._values)

    def _refresh(self) -> None:
        """Read the rows that other processes have added."""
        added = os.fstat(self._table).st_size // ROW_BYTES * ROW_BYTES - len(self._rows)
        if added > 0:
            new = os.pread(self._table, added, len(self._rows))
            first = len(self._sound)
            self._row_of.update((key, row) for row, (key, *_) in enumerate(_ROW.iter_unpack(new), start=first))
            self._rows += new
            self._sound += bytes(len(new) // ROW_BYTES)

    def _value(self, key: bytes, size: int) -> bytes | None:
        """The value of a key, if it has the expected size and its checksum, which is compared once per process."""
        row = self._row_of.get(key)
        if row is None:
            return None
        _, start, stored, checksum = _ROW.unpack_from(self._rows, row * ROW_BYTES)
        value = os.pread(self._values, size, start) if stored == size and start < 2**63 else b""
        if len(value) != size or not (self._sound[row] or _checksum(key, value) == checksum):
            return None
        self._sound[row] = True
        return value

    def _end(self) -> int:
        """The end of the last value; of the file, if that is damaged."""
        if not self._rows:
            return 0
        key, start, size, _ = _ROW.unpack_from(self._rows, len(self._rows) - ROW_BYTES)
        return os.fstat(self._values).st_size if self._value(key, size) is None else start + size


_stores: dict[Path, LayerStore] = {}
"""The open stores of this process, which share their tables."""


@cache
def _register_fork_hooks() -> None:
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


def open_store(folder: Path, *, create: bool = False) -> LayerStore | None:
    """This process's store in a folder, a resolved path; `None` if there is none to open."""
    with LOCK:
        if folder in _stores and not _stores[folder].is_current:  # another process has removed it
            _stores.pop(folder).close()
        if folder not in _stores and (create or (folder / TABLE).exists()):
            _stores[folder] = LayerStore(folder, create=create)
            logger.info("layer cache %s: %d sentences of this biLM", folder, len(_stores[folder]))
        return _stores.get(folder)


def remove_store(folder: Path) -> None:
    """Remove a store, or the database of an earlier version. A process that uses it starts a new one."""
    removed = folder.with_name(f".{folder.name}.{secrets.token_hex(8)}")
    with LOCK, suppress(FileNotFoundError):  # another process was first
        if folder in _stores:
            _stores.pop(folder).close()
        folder.rename(removed)  # both files at once: new values must not get the old table, or vice versa
        shutil.rmtree(removed, ignore_errors=True)


def file_size(path: Path) -> int:
    """Bytes of a file; 0 if it does not exist."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _checksum(key: bytes, value: bytes) -> int:
    """The CRC-32 of key and value: damage must not give a sentence the layers of another."""
    return crc32(value, crc32(key))
