"""
The store of frozen layers: an SQLite database of values by keys of 16 bytes, by which
the layer cache finds sentences.

One process at a time writes, and a kill loses no committed value. Values have
checksums.
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

logger = logging.getLogger(__name__)

LOCK = threading.RLock()
"""Held while a store is used."""

_PAGE = (
    2**15
)  # bytes; with more, small values waste space, with fewer, large ones take longer
_SECONDS = 600  # to wait for other processes
_CREATE = "CREATE TABLE IF NOT EXISTS layers (key BLOB PRIMARY KEY, value BLOB, checksum INTEGER)"


class LayerStore:
    """
    An open store in a file, which is created. All methods raise `sqlite3.Error` if it
    cannot be read or written.
    """

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(
            file, timeout=_SECONDS, check_same_thread=False
        )
        self._database.execute(f"PRAGMA page_size = {_PAGE}")
        self._database.execute(_CREATE)
        self.file, self._warned = file, False

    def __len__(self) -> int:
        return self._database.execute("SELECT COUNT(*) FROM layers").fetchone()[0]

    def read(self, sizes: Mapping[bytes, int]) -> dict[bytes, bytes]:
        """
        The undamaged values by key; `sizes` gives the keys and the expected number of
        bytes of each value.
        """
        values = {}
        with LOCK:
            for key, size in sizes.items():
                row = self._database.execute(
                    "SELECT value, checksum FROM layers WHERE key = ?", (key,)
                ).fetchone()
                if row is None:
                    continue
                if len(row[0]) == size and _checksum(key, row[0]) == row[1]:
                    values[key] = row[0]
                elif not self._warned:
                    self._warned = True
                    logger.warning(
                        "layer cache %s: damaged entries are computed again", self.file
                    )
        return values

    def write(self, values: Mapping[bytes, bytes]) -> None:
        """Add values. An undamaged value of the same key is kept."""
        with LOCK, self._database:
            self._database.execute("BEGIN IMMEDIATE")
            there = self.read({key: len(value) for key, value in values.items()})
            new = [
                (key, value, _checksum(key, value))
                for key, value in values.items()
                if key not in there
            ]
            self._database.executemany(
                "INSERT OR REPLACE INTO layers VALUES (?, ?, ?)", new
            )


_stores: dict[tuple[Path, int], LayerStore] = {}
"""The open stores by file and process: a fork opens its own."""


def open_store(file: Path, *, create: bool = False) -> LayerStore | None:
    """
    This process's store in a file, a resolved path; `None` if there is none to open.
    """
    key = file, os.getpid()
    with LOCK:
        if key not in _stores and (create or file.exists()):
            _stores[key] = LayerStore(file)
            logger.info(
                "layer cache %s: %d sentences of this source", file, len(_stores[key])
            )
        return _stores.get(key)


def remove_store(file: Path) -> None:
    """Remove the file; it is created when the store is opened again."""
    with LOCK:
        _stores.pop((file, os.getpid()), None)
        file.unlink(missing_ok=True)


def _checksum(key: bytes, value: bytes) -> int:
    """
    The CRC-32 of key and value: damage must not give a sentence the layers of another.
    """
    return crc32(value, crc32(key))
