"""
The store of frozen layers: values appended to one file, and a table of their keys and places in another.

The layer cache finds sentences by a digest. One process at a time writes, and a value is on the disk before its row is
in the table: a kill loses no row, and what it leaves behind the last value is overwritten. Values have checksums, and
reading a truncated file does not end the process, as mapped memory would.
"""

import fcntl
import logging
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from struct import Struct
from zlib import crc32

logger = logging.getLogger(__name__)

VALUES, TABLE = "values", "table"

_ROW = Struct("<16sQII")
"""Key, start, size in bytes, and CRC-32."""

ROW_BYTES = _ROW.size

LOCK = threading.RLock()
"""Held while a store is used, so that no other thread closes it meanwhile."""


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
        self._table, self._values = (os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC) for name in (TABLE, VALUES))
        self._entries, self._last = dict[bytes, tuple[int, int, int]](), b""  # start, size and CRC-32; the last key
        self._read_bytes = 0  # of the table
        self._sound = set[bytes]()  # keys whose checksum has been compared
        self._warned = False
        with LOCK:
            self._refresh()

    def __len__(self) -> int:
        """The number of keys."""
        return len(self._entries)

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
            if not sizes.keys() <= self._entries.keys():
                self._refresh()
            for key, size in sizes.items():
                value = self._value(key, size)
                if value is not None:
                    found[key] = value
                elif key in self._entries and not self._warned:
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
            table.seek(self._read_bytes)
            for key, value in new.items():
                table.write(_ROW.pack(key, start, len(value), _checksum(key, value)))
                start += len(value)
            table.flush()
            self._refresh()

    def close(self) -> None:
        os.close(self._table)
        os.close(self._values)

    def _refresh(self) -> None:
        """Read the rows that other processes have added."""
        added = os.fstat(self._table).st_size // ROW_BYTES * ROW_BYTES - self._read_bytes
        if added > 0:
            for key, start, size, checksum in _ROW.iter_unpack(os.pread(self._table, added, self._read_bytes)):
                self._entries[key], self._last = (start, size, checksum), key
                self._sound.discard(key)
            self._read_bytes += added

    def _value(self, key: bytes, size: int) -> bytes | None:
        """The value of a key, if it has the expected size and its checksum, which is compared once per process."""
        start, stored, checksum = self._entries.get(key, (0, -1, 0))
        value = os.pread(self._values, size, start) if stored == size and start < 2**63 else b""
        if stored != size or len(value) != size or not (key in self._sound or _checksum(key, value) == checksum):
            return None
        self._sound.add(key)
        return value

    def _end(self) -> int:
        """The end of the last value; of the file, if that is damaged."""
        if not self._entries:
            return 0
        start, size, _ = self._entries[self._last]
        return os.fstat(self._values).st_size if self._value(self._last, size) is None else start + size


_stores: dict[Path, LayerStore] = {}
"""The open stores of this process, which share their tables."""


def open_store(folder: Path, *, create: bool = False) -> LayerStore | None:
    """This process's store in a folder, a resolved path; `None` if there is none to open."""
    with LOCK:
        if folder in _stores and not _stores[folder].is_current:  # another process has removed it
            _stores.pop(folder).close()
        if folder not in _stores and (create or (folder / TABLE).exists()):
            _stores[folder] = LayerStore(folder, create=create)
            logger.info("layer cache %s: %d sentences of this biLM", folder, len(_stores[folder]))
        return _stores.get(folder)


def file_size(path: Path) -> int:
    """Bytes of a file; 0 if it does not exist."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _checksum(key: bytes, value: bytes) -> int:
    """The CRC-32 of key and value: damage must not give a sentence the layers of another."""
    return crc32(value, crc32(key))
