"""
The layer cache's storage: one LMDB database per biLM and host, `<folder of the biLM>/<host name>/{data,lock}.mdb`.

Hosts never share a database, since LMDB coordinates processes through shared memory. Entries have checksums; damage to
LMDB's own pages, one or two percent of the file, usually makes LMDB raise one of `DAMAGE`, but may end the process.
"""

import logging
import os
import platform
import re
import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from zlib import crc32

import lmdb

logger = logging.getLogger(__name__)

DAMAGE = (lmdb.CorruptedError, lmdb.InvalidError, lmdb.PageNotFoundError)
"""What LMDB raises if the database itself, not just an entry, is damaged."""

Value = bytes | memoryview

_DATA, _LOCK_FILE = "data.mdb", "lock.mdb"
_LOCK_FILE_BYTES = 8192  # what LMDB takes for its default of 126 readers
_CRC_BYTES = 4
_SPARE_MAP_BYTES = 2**30
_HOST = re.sub(r"[^\w-]", "_", platform.node()) or "host"


class LayerStore:
    """
    An open database of bytes by key, each with a CRC-32; see `open_store`.

    # Parameters

    path : `Path`
        The folder of the database.

    # Raises

    `lmdb.Error` from all methods, one of `DAMAGE` if it is not a sound database.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._verified: set[bytes] = set()
        self._environment = self._open()
        self.inode = _inode(path)

    def __len__(self) -> int:
        return self._environment.stat()["entries"]

    def read(self, sizes: Mapping[bytes, int], take: Callable[[bytes, Value], None]) -> tuple[list[bytes], int]:
        """
        Call `take` with each key and value; the memory of the value is valid only during the call.

        # Parameters

        sizes : `Mapping[bytes, int]`
            The expected bytes of each key's value.

        # Returns

        The keys whose value is missing or damaged, and the number of the latter.
        """
        missing, damaged = [], 0
        with LOCK, self._begin() as transaction:
            for key, size in sizes.items():
                entry = transaction.get(key)
                if entry is not None and self._is_sound(key, entry, size):
                    take(key, entry[_CRC_BYTES:])
                else:
                    missing.append(key)
                    damaged += entry is not None
        return missing, damaged

    def write(self, values: Mapping[bytes, bytes]) -> None:
        """Store all values, or none, in one transaction. An undamaged value of the same key is kept."""
        with LOCK:
            try:
                self._put(values)
            except lmdb.MapFullError:
                self._reopen(sum(map(len, values.values())))
                self._put(values)

    def verify(self) -> tuple[int, int, int]:
        """The number of undamaged values, the sum of their bytes, and the number of damaged ones; reads everything."""
        with LOCK, self._begin() as transaction:
            sizes, damaged = [], 0
            for key, entry in transaction.cursor():
                size = len(entry) - _CRC_BYTES
                if self._is_sound(bytes(key), entry, size):
                    sizes.append(size)
                else:
                    damaged += 1
            return len(sizes), sum(sizes), damaged

    def close(self) -> None:
        """Close the database."""
        self._environment.close()

    def _put(self, values: Mapping[bytes, bytes]) -> None:
        with self._begin(write=True) as transaction:
            for key, value in values.items():
                entry = transaction.get(key)
                if entry is None or not self._is_sound(key, entry, len(value)):
                    transaction.put(key, _checksum(key, value) + value)

    def _is_sound(self, key: bytes, entry: Value, size: int) -> bool:
        """Whether an entry has a value of the expected size and its checksum, which is compared once per process."""
        if len(entry) != size + _CRC_BYTES:
            return False
        if key not in self._verified and entry[:_CRC_BYTES] == _checksum(key, entry[_CRC_BYTES:]):
            self._verified.add(key)
        return key in self._verified

    def _begin(self, *, write: bool = False) -> lmdb.Transaction:
        try:
            return self._environment.begin(write=write, buffers=True)
        except lmdb.MapResizedError:  # another process has written beyond the end of this process's map
            self._reopen()
            return self._environment.begin(write=write, buffers=True)

    def _reopen(self, extra_bytes: int = 0) -> None:
        self.close()
        self._environment = self._open(extra_bytes)

    def _open(self, extra_bytes: int = 0) -> lmdb.Environment:
        # The map reserves addresses only; the file grows as pages are written. On a commit, `sync` flushes the pages,
        # then the header that refers to them is written, which `metasync=False` leaves to the system: a kill loses no
        # committed transaction, a power failure at most the last one, and neither damages the database. Readahead
        # stays on, since a value spans several pages. `mode` leaves the permissions to the umask. A spare transaction
        # would keep a slot of the lock file, which a fork would release.
        map_size = 2 * (file_size(self.path / _DATA) + extra_bytes) + _SPARE_MAP_BYTES
        open_environment = partial(lmdb.open, str(self.path), map_size=map_size, max_spare_txns=0)
        try:
            environment = open_environment(sync=True, metasync=False, mode=0o777)
            environment.reader_check()  # release the pages of readers that were killed
        except (lmdb.ReadonlyError, PermissionError):
            # Without a lock file, a page can be reused while it is read if its owner commits two transactions during
            # one of ours, which takes milliseconds; the checksum notices that.
            environment = open_environment(readonly=True, lock=False)
        pages = environment.info()["last_pgno"] + 1
        if pages * environment.stat()["psize"] > file_size(self.path / _DATA):
            environment.close()  # reading beyond the end of a mapped file ends the process (SIGBUS)
            raise lmdb.CorruptedError("the file is truncated")
        return environment


LOCK = threading.RLock()
"""Held during each transaction, so that no other thread reopens the database meanwhile, or forks."""

_stores: dict[Path, LayerStore] = {}
"""The open stores of this process, which must not open one twice."""


def _after_fork() -> None:
    """Close the stores of the parent process, which must not be used, before a child opens its own."""
    for store in _stores.values():
        store.close()
    _stores.clear()
    LOCK.release()


os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=_after_fork)


def store_path(folder: Path) -> Path:
    """This host's database in a biLM's folder."""
    return folder / _HOST


def open_store(folder: Path, *, create: bool = False) -> LayerStore | None:
    """
    This process's store of this host in a biLM's folder, a resolved path; `None` if there is none to open.

    # Raises

    `lmdb.Error` or `OSError` if it cannot be opened or created.
    """
    path = store_path(folder)
    with LOCK:
        inode = _inode(path)
        if path in _stores and _stores[path].inode != inode:  # another process has removed it
            del _stores[path]
        if path not in _stores and (create or inode is not None):
            if not path.exists():
                _create(path)
            _stores[path] = LayerStore(path)
            logger.info("layer cache %s: %d sentences of this biLM", path, len(_stores[path]))
        return _stores.get(path)


def remove_store(path: Path) -> None:
    """Remove a database. A process that has it open starts a new one with its next batch."""
    removed = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with LOCK:
        _stores.pop(path, None)
        with suppress(FileNotFoundError):  # another process was first
            path.rename(removed)  # both files at once: a new database must not get the old lock file, or vice versa
    for name in (_DATA, _LOCK_FILE):
        (removed / name).unlink(missing_ok=True)
    with suppress(OSError):  # there are files that are not ours
        removed.rmdir()


def file_size(path: Path) -> int:
    """Bytes of a file; 0 if it does not exist."""
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _inode(path: Path) -> int | None:
    """The identity of a database's file; `None` if there is none."""
    with suppress(OSError):
        return (path / _DATA).stat().st_ino
    return None


def _create(path: Path) -> None:
    """An empty database whose lock file is allocated: LMDB writes to it through a map, where a full disk is SIGBUS."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    new.mkdir()
    try:
        (new / _LOCK_FILE).write_bytes(bytes(_LOCK_FILE_BYTES))
        with suppress(OSError):  # another process was first
            new.rename(path)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _checksum(key: bytes, value: Value) -> bytes:
    """The CRC-32 of key and value: damage must not give a sentence the layers of another."""
    return crc32(value, crc32(key)).to_bytes(_CRC_BYTES, "little")
