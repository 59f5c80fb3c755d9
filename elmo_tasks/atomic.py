"""Files that are whole or absent: written aside, flushed, renamed."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elmo_tasks.errors import InputError

_ASIDE = re.compile(r"\..+\.(\d+)\.tmp")


def check_output_path(path: str | Path, *, read: Iterable[str | Path | None] = (), device: bool = False) -> None:
    """
    Ask for a place for results before the work that makes them. Folders that lack are made when they are written.

    # Parameters

    path : `str` or `Path`
        Where the results will be.
    read : `Iterable[str | Path | None]`
        Files that they must not replace, as far as they are there.
    device : `bool`
        Whether a pipe or a device will do.

    # Raises

    `InputError` where there cannot be such a file, or it is one of those that are read.
    """
    target = Path(path)
    if not str(path):
        raise InputError("the name of a file was wanted, it is empty")
    if target.is_dir():
        raise InputError("a file was wanted, this is a folder", file=target, hint="name a file in it, or another")
    if target.exists() and not target.is_file():
        if device:
            return
        raise InputError("a file was wanted, this is a device or a pipe", file=target, hint="name a file")
    folder = next(above for above in target.absolute().parents if above.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("a folder that can be written was wanted", file=folder, hint="name another")
    for file in [Path(file) for file in read if file is not None]:
        if target.exists() and file.exists() and target.samefile(file):
            problem = "the output would be written over a file that is read"
            raise InputError(problem, file=target, hint="name another file")


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """
    Give a temporary path beside `path`; rename it to `path` when the block ends well, remove it otherwise.

    Contents and name are on the disk when it ends: what is removed afterwards does not go before the new file is safe.
    A pipe or a device, which no file can replace, is given itself.

    # Raises

    `InputError` where the folder cannot be written or the disk is full; `path` is then as it was.
    """
    target = Path(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    aside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield aside
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.replace(target)
        _flush_names(target.parent)
    except OSError as error:
        problem = os.strerror(error.errno) if error.errno else error  # h5py has a text of its own as strerror
        raise InputError(f"cannot write: {problem}", file=target) from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


@contextmanager
def atomic_write_folder(target: Path) -> Iterator[Path]:
    """
    Give a folder beside or in `target` to write files into; when the block ends well they go to `target`, which is made
    if need be, otherwise none does. Other files of it stay.

    # Raises

    `InputError` where it cannot be written.
    """
    home = target if target.is_dir() else target.parent
    aside = home / f".{target.name}.{os.getpid()}.tmp"
    try:
        aside.mkdir(parents=True)
        yield aside
        target.mkdir(exist_ok=True)
        for path in sorted(aside.iterdir()):
            path.replace(target / path.name)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", file=target) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def leftovers(folder: str | Path) -> Iterator[Path]:
    """The temporary files in a folder that no living process writes, where this process writes none."""
    named = ((path, _ASIDE.fullmatch(path.name)) for path in list(Path(folder).iterdir()))
    return (path for path, match in named if match and path.is_file() and not _is_another(int(match[1])))


def _is_another(process: int) -> bool:
    """Whether another process with this id lives on this machine."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return process != os.getpid()


def _flush_names(folder: Path) -> None:
    """Writes a folder's entries to the disk, where the system lets a folder be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
