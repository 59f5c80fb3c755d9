"""
The layer cache's storage: one LMDB database per biLM and host, `<folder of the biLM>/<host name>/{data,lock}.mdb`.

Hosts never share a database, since LMDB coordinates processes through shared memory. Entries have checksums; damage to
LMDB's own pages, one or two percent of the file, usually makes LMDB raise an error, but may end the process.
"""

import logging
import os
import platform
import re
import secrets
import shutil
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from zlib import crc32

import lmdb

logger = logging.getLogger(__name__)

Value = bytes | memoryview

_DATA, _LOCK_FILE = "data.mdb", "lock.mdb"
_LOCK_FILE_BYTES = 8192  # the size for LMDB's default of 126 readers
_CRC_BYTES = 4
_MAP_BYTES = 2**40  # only reserves addresses; the file grows as pages are written
_HOST = re.sub(r"[^\w-]", "_", platform.node()) or "host"


class LayerStore:
    """
    An open database of bytes by key, each with a CRC-32; see `open_store`.

    All methods raise `lmdb.Error` if it is not a sound database.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._verified: set[bytes] = set()
        self._warned = False
        self._environment = _open(path)
        self.inode = _inode(path)

    def __len__(self) -> int:
        return self._environment.stat()["entries"]

    def read(self, sizes: Mapping[bytes, int]) -> dict[bytes, bytes]:
        """The undamaged values of keys, of which `sizes` gives the expected bytes."""
        found = {}
        with LOCK, self._environment.begin(buffers=True) as transaction:
            for key, size in sizes.items():
                entry = transaction.get(key)
                if entry is not None and self._is_sound(key, entry, size):
                    found[key] = bytes(entry[_CRC_BYTES:])
                elif entry is not None and not self._warned:
                    self._warned = True
                    logger.warning("layer cache %s: damaged entries are computed again", self.path)
        return found

    def write(self, values: Mapping[bytes, bytes]) -> None:
        """Store all values, or none, in one transaction. An undamaged value of the same key is kept."""
        with LOCK, self._environment.begin(write=True, buffers=True) as transaction:
            for key, value in values.items():
                entry = transaction.get(key)
                if entry is None or not self._is_sound(key, entry, len(value)):
                    transaction.put(key, _checksum(key, value) + value)

    def verify(self) -> tuple[int, int, int]:
        """The number of undamaged values, the sum of their bytes, and the number of damaged ones; reads everything."""
        with LOCK, self._environment.begin(buffers=True) as transaction:
            entries = ((bytes(key), entry, len(entry) - _CRC_BYTES) for key, entry in transaction.cursor())
            sizes = [size if self._is_sound(key, entry, size) else None for key, entry, size in entries]
        sound = [size for size in sizes if size is not None]
        return len(sound), sum(sound), len(sizes) - len(sound)

    def close(self) -> None:
        self._environment.close()

    def _is_sound(self, key: bytes, entry: Value, size: int) -> bool:
        """Whether an entry has a value of the expected size and its checksum, which is compared once per process."""
        if len(entry) != size + _CRC_BYTES:
            return False
        if key not in self._verified and entry[:_CRC_BYTES] == _checksum(key, entry[_CRC_BYTES:]):
            self._verified.add(key)
        return key in self._verified


def _open(path: Path) -> lmdb.Environment:
    # On a commit, `sync` flushes the pages, then the header that refers to them is written, which `metasync=False`
    # leaves to the system: a kill loses no committed transaction, a power failure at most the last one, and neither
    # damages the database. A spare transaction would keep a slot of the lock file, which a fork would release.
    open_environment = partial(lmdb.open, str(path), map_size=_MAP_BYTES, max_spare_txns=0)
    try:
        _allocate_lock_file(path)
        environment = open_environment(sync=True, metasync=False, mode=0o777)  # the umask applies
        environment.reader_check()  # release the pages of readers that were killed
    except (lmdb.ReadonlyError, OSError):
        # Without a lock file, a page can be reused while it is read if its owner commits two transactions during
        # one of ours, which takes milliseconds; the checksum notices that.
        environment = open_environment(readonly=True, lock=False)
    pages = environment.info()["last_pgno"] + 1
    if pages * environment.stat()["psize"] > file_size(path / _DATA):
        environment.close()  # reading beyond the end of a mapped file ends the process (SIGBUS)
        raise lmdb.CorruptedError("the file is truncated")
    return environment


def _allocate_lock_file(path: Path) -> None:
    """LMDB writes to the lock file through a memory map, where a full disk would end the process (SIGBUS)."""
    path.mkdir(exist_ok=True)
    with (path / _LOCK_FILE).open("ab") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, _LOCK_FILE_BYTES)


LOCK = threading.RLock()
"""Held during each transaction, so that no other thread closes the database meanwhile, or forks."""

_stores: dict[Path, LayerStore] = {}
"""The open stores of this process, which must not open one twice."""


def _after_fork() -> None:
    """Close the stores of the parent process, which must not be used, before a child opens its own."""
    for store in _stores.values():
        store.close()
    _stores.clear()
    LOCK.release()


@cache
def _register_fork_hooks() -> None:
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=_after_fork)


def store_path(folder: Path) -> Path:
    """This host's database in a biLM's folder."""
    return folder / _HOST


def open_store(folder: Path, *, create: bool = False) -> LayerStore | None:
    """This process's store of this host in a biLM's folder, a resolved path; `None` if there is none to open."""
    path = store_path(folder)
    _register_fork_hooks()
    with LOCK:
        inode = _inode(path)
        if path in _stores and _stores[path].inode != inode:  # another process has removed it
            del _stores[path]
        if path not in _stores and (create or inode is not None):
            _stores[path] = LayerStore(path)
            logger.info("layer cache %s: %d sentences of this biLM", path, len(_stores[path]))
        return _stores.get(path)


def remove_store(path: Path) -> None:
    """Remove a database. A process that has it open starts a new one with its next batch."""
    removed = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with LOCK, suppress(FileNotFoundError):  # another process was first
        _stores.pop(path, None)
        path.rename(removed)  # both files at once: a new database must not get the old lock file, or vice versa
        shutil.rmtree(removed, ignore_errors=True)


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


def _checksum(key: bytes, value: Value) -> bytes:
    """The CRC-32 of key and value: damage must not give a sentence the layers of another."""
    return crc32(value, crc32(key)).to_bytes(_CRC_BYTES, "little")
