"""
What the files contain that a run reads, and whether they have changed since it began.

A run records them in its folder when it begins: the SHA-256 of each, and the sizes and
dates by which an unchanged file is recognised later without being read again. A run is
resumed only with the files that it began with; a table says which of its results are of
other data.
"""

import hashlib
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from elmo_tasks.errors import InputError
from elmo_tasks.formats.annotation.ontonotes import find_files
from elmo_tasks.option_values import ALLOW_CHANGED
from elmo_tasks.system.files import file_sha256, write_text
from elmo_tasks.system.run_names import INPUTS, VOCABULARY
from elmo_tasks.training.checks.files import files_named, input_names
from elmo_tasks.training.nested import strings

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


OF_RUN = "<run>/"
"""The folder of a run, in the names of files in it."""


@dataclass(frozen=True)
class _Known:
    """What the record says of a name; `is_folder` is not in those of earlier runs."""

    sha256: str
    files: list[list[Any]]
    is_folder: bool | None = None


_RECORD = TypeAdapter(dict[str, _Known])


class _FileStatus(NamedTuple):
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
            found[name] = _Known(_sha256(files), _dates(files), _is_folder(name))
    _write(folder, found)


def record_vocabulary(folder: Path) -> None:
    """Adds the files of a run's vocabulary, which belong to its weights."""
    found = _record(folder)
    for file in _files(str(folder / VOCABULARY)):
        name = f"{OF_RUN}{VOCABULARY}/{file.path.name}"
        found[name] = _Known(_sha256_of_one(file.path), [])
    _write(folder, found)


def recorded_inputs(folder: Path) -> Inputs:
    """
    What a run has read, as its folder records it. It is empty if the folder has no
    record, or a damaged one.
    """
    try:
        return {name: known.sha256 for name, known in _record(folder).items()}
    except InputError:  # the run was resumed in spite of that
        return {}


def require_unchanged(
    folder: Path, config: Mapping[str, Any], *, allow_changed: bool = False
) -> None:
    """
    Raises `InputError` if a run would be resumed with other files than it began with,
    or without the record of them; with `allow_changed` that is a warning. Its own
    vocabulary must be as it was.
    """
    try:
        record = _record(folder)
    except InputError as error:
        if not allow_changed:
            raise
        logger.warning("%s", error)
        return
    _require_vocabulary(folder, record)
    names = _changed(record, config)
    if not names:
        return
    verb = "has" if len(names) == 1 else "have"
    problem = f"{', '.join(names)} {verb} changed since this run began"
    if not allow_changed:
        raise InputError(problem, file=folder, hint=RESTORE)
    logger.warning("%s", problem)


def _require_vocabulary(folder: Path, record: Mapping[str, _Known]) -> None:
    """
    Raises `InputError` at a file that is missing, changed or new. A run that was killed
    before it recorded its vocabulary makes it anew.
    """
    expected = {}
    for name, known in record.items():
        if name.startswith(OF_RUN):
            expected[folder / name.removeprefix(OF_RUN)] = known.sha256
    if not expected:
        return
    found = [path for path in (folder / VOCABULARY).glob("[!.]*") if path.is_file()]
    for file in sorted({*expected, *found}):
        is_there = file in expected and file.is_file()
        if not is_there or _sha256_of_one(file) != expected[file]:
            problem = "expected the vocabulary that the run began with"
            hint = "restore this file, or start another run"
            raise InputError(problem, file=file, hint=hint)


def _changed(record: Mapping[str, _Known], config: Mapping[str, Any]) -> list[str]:
    """
    The names in the config of a run whose files are missing, or have other contents
    than when it began. Only files with another size or date are read.
    """
    names = input_names(dict(config))
    names += [text for _, text in strings("", config)]  # some are no files any more
    found = []
    for name in dict.fromkeys(names):
        known = record.get(name)
        if known is None:
            continue
        files = _files(name)
        is_other_kind = known.is_folder not in (None, _is_folder(name))
        if _dates(files) == known.files and not is_other_kind:
            continue
        if is_other_kind or not files or _sha256(files) != known.sha256:
            found.append(name)
    return found


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


def _record(folder: Path) -> dict[str, _Known]:
    """Raises `InputError` if there is none, or another file in its place."""
    try:
        return _RECORD.validate_json((folder / INPUTS).read_bytes())
    except FileNotFoundError:
        got = "none"
    except (OSError, ValueError):
        got = "another file"
    problem = f"expected the record of the files that the run reads, got {got}"
    raise InputError(problem, file=folder / INPUTS, hint=RESTORE)


def _write(folder: Path, record: dict[str, _Known]) -> None:
    text = _RECORD.dump_json(record, indent=1).decode()
    write_text(folder / INPUTS, f"{text}\n")


def _is_folder(name: str) -> bool:
    """Whether a name, or a part of it, is that of a folder."""
    return any(one.is_dir() for one in files_named(name))


def _dates(files: tuple[_FileStatus, ...]) -> list[list[Any]]:
    """Name, size and date of each file, as JSON has them."""
    return [[file.path.name, file.size, file.changed] for file in files]


def _files(name: str) -> tuple[_FileStatus, ...]:
    """The files with a name, and those in its folders, sorted."""
    found = set()
    try:
        for one in files_named(name):
            for file in _in_folder(one) if one.is_dir() else [one]:
                if file.is_file():
                    status = file.stat()
                    found.add(
                        _FileStatus(file.absolute(), status.st_size, status.st_ctime_ns)
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
def _sha256(files: tuple[_FileStatus, ...]) -> str:
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
