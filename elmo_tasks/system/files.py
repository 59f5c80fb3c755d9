"""
Atomic writes: to a temporary file, which is flushed and renamed. The lock of a folder.
The digest of a file.
"""

import hashlib
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

LOCK = ".elmo_tasks.lock"
"""The file that a process locks while it writes to a folder."""

PLAIN = ("JSON or text, such as scores.json", ".json", ".jsonl")
"""A format: what the file is, and the suffixes of its name."""

FORMATS = re.compile(
    r"\.(csv|tsv|xlsx|jsonl?|parquet|np[yz]|h5|hdf5|bin|pt|pkl|gz|zst|xz|bz2|zip)"
)
"""Suffixes that tell what is in a file; `.txt` may be anything."""

TEMPORARY = ".*.tmp"
"""The pattern of the names of temporary folders, which killed processes leave."""


def check_output_path(
    path: str | Path,
    *,
    read: Iterable[str | Path | None] = (),
    device: bool = False,
    force: bool = True,
    format: Sequence[str] = (),
) -> None:
    """
    Checks an output before the work starts. Raises `InputError` if it cannot be
    written, would replace one of the input files `read`, exists and `force` is false,
    or has the suffix of another `format` (see `PLAIN`). With `device`, it can be a pipe
    or a device. `-` is rejected: it would be a file of that name.
    """
    if not str(path):
        raise InputError("expected the path of a file, got an empty one")
    if str(path) == "-":
        hint = "/dev/stdout is the standard output" if device else "name a file"
        raise InputError("expected the path of a file, got -", hint=hint)
    target = _resolved(path)
    if target.is_dir():
        raise InputError(
            "expected a file, got a folder",
            file=target,
            hint="name a file in it, or another path",
        )
    if target.exists() and not target.is_file():
        if device:
            return
        raise InputError("expected a file, got a device or a pipe", file=target)
    folder = target.absolute().parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("expected a writable folder", file=folder, hint="name another")
    for file in read:
        if file is None or not Path(file).exists() or not target.exists():
            continue
        if target.samefile(file):
            raise InputError(
                "the output would overwrite an input file",
                file=target,
                hint="name another file",
            )
    suffix = Path(path).suffix.lower()
    if format and suffix not in format and FORMATS.fullmatch(suffix):
        raise InputError(f"expected the name of {format[0]}, got {path}")
    if target.exists() and not force:
        raise InputError(
            "the file exists", file=path, hint="name another, or --force replaces it"
        )


def require_distinct(outputs: Sequence[str | Path]) -> None:
    """Raises `InputError` if two outputs are the same file; devices may be."""
    seen = set[Path]()
    for output in outputs:
        target = _resolved(output)
        if target in seen and (target.is_file() or not target.exists()):
            raise InputError(
                "expected a file for each output, got the same twice",
                file=output,
                hint="name another file",
            )
        seen.add(target)


def temporary_folder(target: Path) -> "tempfile.TemporaryDirectory[str]":
    """
    A new hidden folder beside an output. A killed process leaves it; it has a name like
    `.vectors.hdf5.x3k_9a2b.tmp`.
    """
    prefix = f".{target.name[:50]}."
    return tempfile.TemporaryDirectory(
        prefix=prefix, suffix=".tmp", dir=target.parent, ignore_cleanup_errors=True
    )


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """
    Yields a path in a temporary folder beside `path`, which is renamed to `path` at the
    end, or removed after an exception. If `path` is a link, its target is replaced.
    Contents and name are flushed to the disk. A pipe or a device is written directly.
    Raises `InputError` if the folder is not writable or the disk is full; `path` is
    then unchanged.
    """
    target = _resolved(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(target) as folder:
            aside = Path(folder) / target.name
            yield aside
            with aside.open("rb") as file:
                os.fsync(file.fileno())
            aside.replace(target)
            _flush_names(target.parent)
    except OSError as error:
        problem = str(error)
        if error.errno:
            problem = os.strerror(error.errno)  # h5py puts other text into strerror
        raise InputError(f"cannot write: {problem}", file=target) from error


def write_text(path: str | Path, text: str) -> None:
    """Writes a file in UTF-8 as `atomic_write` does."""
    with atomic_write(path) as aside:
        aside.write_text(text, "utf-8")


@contextmanager
def atomic_write_folder(target: Path, *, last: Sequence[str] = ()) -> Iterator[Path]:
    """
    Yields a temporary folder, whose files are moved to `target` at the end, or removed
    after an exception. Other files in `target` are kept. Raises `InputError` if
    `target` is not writable, or has a folder with the name of a file.

    `last` names files without which nobody reads the others, such as weights. Their old
    versions are removed before any file is replaced, and the new ones are moved last.
    After a kill between two files, they are missing: nobody reads a mix.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target / target.name if target.is_dir() else target
        with temporary_folder(beside) as folder:
            aside = Path(folder)
            yield aside
            target.mkdir(exist_ok=True)
            _move_all(aside, target, last)
    except OSError as error:
        raise InputError(
            f"cannot write: {error.strerror or error}", file=target
        ) from error


class Held(InputError):
    """Another process writes to a folder."""


@contextmanager
def exclusive(folder: Path, *, wait: float = 1.0) -> Iterator[None]:
    """
    Locks a folder, which is made if it does not exist, for one process that writes to
    it. The system releases the lock of a killed process. A file system that has no
    locks is a warning.

    Raises `Held` if another process does not release the folder within `wait` seconds,
    and `InputError` if the folder cannot be made or written to.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=wait)
    except Timeout:
        problem = "expected a folder that no other process writes to, got one in use"
        hint = "wait for the other process, or name another folder"
        raise Held(problem, file=folder, hint=hint) from None
    except (NotImplementedError, OSError) as error:
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"cannot write: {reason}", file=folder) from error
        risk = "make sure that only one process writes to it"
        logger.warning("%s cannot be locked (%s): %s", folder, error, risk)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """
    A folder that has its name at the end, and is removed after an exception. Raises
    `InputError` if there is a file of the name, or a folder that is not empty, and
    `OSError` if it cannot be made.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problem = "expected a new or an empty folder, got one with files"
        raise InputError(problem, file=folder, hint="name another, or remove it")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(folder) as aside:
        made = Path(aside) / folder.name
        made.mkdir()
        yield made
        os.replace(made, folder)


def _move_all(aside: Path, target: Path, last: Sequence[str]) -> None:
    """Move the files of a temporary folder to `target`, those in `last` at the end."""
    names = []
    for path in sorted(aside.rglob("*")):
        if path.is_file():
            names.append(path.relative_to(aside).as_posix())
            check_output_path(target / names[-1])
    marks = [name for name in last if name in names]
    if len(names) > 1:
        for name in marks:
            _resolved(target / name).unlink(missing_ok=True)
        _flush_names(target)
    for name in [name for name in names if name not in marks] + marks:
        with atomic_write(target / name) as beside:
            shutil.move(aside / name, beside)


def _resolved(path: str | Path) -> Path:
    """
    The path without links; of a pipe behind `/dev/stdout`, which has no other name, the
    path itself.
    """
    target = Path(os.path.realpath(path))
    if Path(path).exists() and not target.exists():
        return Path(path)
    return target


def _flush_names(folder: Path) -> None:
    """Flushes the names in a folder, if the system can open folders."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def file_sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal digits."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
