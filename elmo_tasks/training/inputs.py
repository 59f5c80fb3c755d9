"""
What the files contain that a run reads, and whether they have changed since it began.

A run records them in its folder when it begins: the SHA-256 of each, and the sizes and
dates by which an unchanged file is recognised later without being read again. A run is
resumed only with the files that it began with; a table says which of its results are of
other data.
"""

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.errors import InputError
from elmo_tasks.files import file_sha256, write_text
from elmo_tasks.formats.ontonotes import find_files
from elmo_tasks.option_values import ALLOW_CHANGED
from elmo_tasks.run_names import INPUTS
from elmo_tasks.training.checks.files import files_named, input_names

logger = logging.getLogger(__name__)

RESTORE = (
    "restore what it began with, or start another run; "
    f"{ALLOW_CHANGED} resumes it with the present files"
)

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


def record_inputs(folder: Path, config: Mapping[str, Any]) -> None:
    """
    Records in the folder of a run what is in the files that its config names. Reads
    each file once, which takes about four minutes for 100 GB.
    """
    found = {}
    for name in input_names(dict(config)):
        files = _files(name)
        if files:
            found[name] = {"sha256": _sha256(files), "files": _dates(files)}
    write_text(folder / INPUTS, json.dumps(found, indent=1) + "\n")


def recorded_inputs(folder: Path) -> Inputs:
    """What a run has read, as its folder records it; nothing if it does not."""
    return {name: known["sha256"] for name, known in _record(folder).items()}


def changed_inputs(folder: Path, config: Mapping[str, Any]) -> list[str]:
    """
    The names in the config of a run whose files are missing, or have other contents
    than when it began. Only files with another size or date are read.
    """
    record = _record(folder)
    found = []
    for name in input_names(dict(config)):
        known = record.get(name)
        if known is None:
            continue
        files = _files(name)
        if _dates(files) == known["files"]:
            continue
        if not files or _sha256(files) != known["sha256"]:
            found.append(name)
    return found


def require_unchanged(
    folder: Path, config: Mapping[str, Any], *, allow_changed: bool = False
) -> None:
    """
    Raises `InputError` if a run would be resumed with other files than it began with;
    with `allow_changed` that is a warning.
    """
    names = changed_inputs(folder, config)
    if not names:
        return
    verb = "has" if len(names) == 1 else "have"
    problem = f"{', '.join(names)} {verb} changed since this run began"
    if not allow_changed:
        raise InputError(problem, file=folder, hint=RESTORE)
    logger.warning("%s", problem)


def described(names: Iterable[str]) -> Inputs:
    """
    What is in the files with these names, which may be of folders and patterns; without
    those of which nothing is there.
    """
    found = {}
    for name in names:
        files = _files(name)
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


def _record(folder: Path) -> dict[str, dict[str, Any]]:
    try:
        found: dict[str, dict[str, Any]] = json.loads((folder / INPUTS).read_bytes())
    except FileNotFoundError:  # AllenNLP began the run, for a config of another type
        return {}
    except ValueError as error:
        problem = f"expected the record of the files that the run reads: {error}"
        raise InputError(problem, file=folder / INPUTS) from error
    return found


def _dates(files: tuple[_File, ...]) -> list[list[Any]]:
    """Name, size and date of each file, as JSON has them."""
    return [[file.path.name, file.size, file.changed] for file in files]


def _files(name: str) -> tuple[_File, ...]:
    """The files with a name, and those in its folders, sorted."""
    found = set()
    try:
        for one in files_named(name):
            for file in _in_folder(one) if one.is_dir() else [one]:
                if file.is_file():
                    status = file.stat()
                    found.add(
                        _File(file.absolute(), status.st_size, status.st_ctime_ns)
                    )
    except OSError:  # a folder that may not be entered
        return ()
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
