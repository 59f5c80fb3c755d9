"""
What the files contain that a run reads, and whether that is still so.

The hash of a run has the names of its files. Their contents are recorded when the run
begins, so that an interrupted run does not go on with other data, and a table says which
of its results are of other data.
"""

import hashlib
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.errors import InputError
from elmo_tasks.files import file_sha256
from elmo_tasks.formats.ontonotes import find_files
from elmo_tasks.training.checks.files import files_named

Inputs = dict[str, str]
"""
By name, see `files_named`: the SHA-256 of the one file, else that of a line for
each file, with its SHA-256 and its path from the folder that has all.
"""


class _File(NamedTuple):
    """A file; and its size and the time of its last change, in nanoseconds."""

    path: Path
    size: int
    changed: int


def described(names: Iterable[str]) -> Inputs:
    """
    What is in the files with these names, which may be of folders and patterns; without
    those of which nothing is there.
    """
    found = {}
    for name in names:
        try:
            files = _files(name)
        except OSError:  # a folder that may not be entered
            continue
        if files:
            found[name] = _sha256(files)
    return found


def changed(inputs: Inputs) -> list[str]:
    """
    The names whose files, seen from the current folder, have other contents now; not
    those of which nothing is there.
    """
    present = described(inputs)
    return [name for name, known in inputs.items() if present.get(name, known) != known]


def inputs_in(value: Any) -> Inputs:
    """
    What a file has recorded; nothing if it is damaged, or of a version that did not.
    """
    if not isinstance(value, dict):
        return {}
    if not all(isinstance(digest, str) for digest in value.values()):
        return {}
    return value


def _files(name: str) -> tuple[_File, ...]:
    """The files with a name, and those in its folders, sorted."""
    found = set()
    for one in files_named(name):
        for file in _in_folder(one) if one.is_dir() else [one]:
            if file.is_file():
                status = file.stat()
                found.add(_File(file.absolute(), status.st_size, status.st_ctime_ns))
    return tuple(sorted(found))


def _in_folder(folder: Path) -> list[Path]:
    """
    The files of OntoNotes in a folder, which readers choose by their names; else all
    but hidden ones, such as locks.
    """
    try:
        return find_files(folder)
    except InputError:
        pass
    found = []
    for file in folder.rglob("*"):
        parts = file.relative_to(folder).parts
        if not any(part.startswith(".") for part in parts):
            found.append(file)
    return found


@lru_cache
def _sha256(files: tuple[_File, ...]) -> str:
    if len(files) == 1:
        return _sha256_of_one(files[0].path)
    folder = os.path.commonpath([file.path.parent for file in files])
    digest = hashlib.sha256()
    for file in files:
        name = file.path.relative_to(folder).as_posix()
        line = f"{_sha256_of_one(file.path)}  {name}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _sha256_of_one(file: Path) -> str:
    try:
        return file_sha256(file)
    except OSError:
        return "cannot be read"
