"""
The files that a run reads, and whether their contents are still what they were.

The hash of a run has their names. What is in them is recorded when the run begins, so
that an interrupted run does not go on with other data, and a table says which of its
results are of other data.
"""

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.files import file_sha256
from elmo_tasks.training.checks.files import files_named

Inputs = dict[str, dict[str, int | str]]
"""By the name in the config: `bytes`, `modified` and `sha256`, see `described`."""


class _File(NamedTuple):
    """A file, its size, and when it was changed, in nanoseconds."""

    path: Path
    size: int
    modified: int


def described(names: Iterable[str]) -> Inputs:
    """
    What is in the files with these names, which may be folders and patterns, those
    which exist: their `bytes`, when the newest was `modified` (in seconds since 1970),
    and `sha256`: for one file that of its bytes, else that of a line for each file, with
    its `sha256` and its path from the folder that has all of them.
    """
    found: Inputs = {}
    for name in names:
        files = _files(name)
        if files:
            found[name] = {
                "bytes": _size(files),
                "modified": _newest(files),
                "sha256": _sha256(files),
            }
    return found


def changed(inputs: Inputs) -> list[str]:
    """
    The names whose files have other contents now, or are others; not those of which
    nothing is there or can be read. A name of one file with the known size and time is
    not read.
    """
    found = []
    for name, known in inputs.items():
        try:
            if _has_changed(name, known):
                found.append(name)
        except OSError:
            continue
    return found


def _has_changed(name: str, known: dict[str, int | str]) -> bool:
    files = _files(name)
    if not files or (Path(name).is_file() and _is_untouched(files, known)):
        return False
    return _sha256(files) != known["sha256"]


def _is_untouched(files: Iterable[_File], known: dict[str, int | str]) -> bool:
    return _size(files) == known["bytes"] and _newest(files) == known["modified"]


def _files(name: str) -> tuple[_File, ...]:
    """The files with a name, and those in folders with it, sorted."""
    found = set()
    for path in files_named(name):
        for file in path.rglob("*") if path.is_dir() else [path]:
            if file.is_file():
                status = file.stat()
                found.add(_File(file, status.st_size, status.st_mtime_ns))
    return tuple(sorted(found))


def _size(files: Iterable[_File]) -> int:
    return sum(file.size for file in files)


def _newest(files: Iterable[_File]) -> int:
    return max(file.modified for file in files) // 10**9


@lru_cache
def _sha256(files: tuple[_File, ...]) -> str:
    if len(files) == 1:
        return file_sha256(files[0].path)
    folder = os.path.commonpath([file.path.parent for file in files])
    digest = hashlib.sha256()
    for file in files:
        name = file.path.relative_to(folder).as_posix()
        line = f"{file_sha256(file.path)}  {name}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
