"""Atomic writes: to a temporary file, which is flushed and renamed."""

import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elmo_tasks.errors import InputError

_ASIDE = re.compile(r"\..+\.(\d+)\.tmp")


def check_output_path(
    path: str | Path, *, read: Iterable[str | Path | None] = (), device: bool = False
) -> None:
    """
    Raises `InputError` if an output cannot be written, or would replace one of the input files `read`; to be called
    before the work starts. With `device`, the output can be a pipe or a device.
    """
    if not str(path):
        raise InputError("expected the path of a file, got an empty one")
    target = _resolved(path)
    if target.is_dir():
        raise InputError(
            "expected a file, got a folder",
            file=target,
            hint="name a file in it, or another",
        )
    if target.exists() and not target.is_file():
        if device:
            return
        raise InputError("expected a file, got a device or a pipe", file=target)
    folder = next(above for above in target.absolute().parents if above.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("expected a writable folder", file=folder, hint="name another")
    for file in [Path(file) for file in read if file is not None]:
        if target.exists() and file.exists() and target.samefile(file):
            raise InputError(
                "the output would overwrite an input file",
                file=target,
                hint="name another file",
            )


def require_new(path: str | Path) -> None:
    """Raises `InputError` if a file exists that only `--force` replaces."""
    if Path(path).exists():
        raise InputError(
            "the file exists", file=path, hint="name another, or --force replaces it"
        )


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """
    Yields a temporary path beside `path`, which is renamed to `path` at the end, or removed after an exception. Of a
    link, the file that it leads to is replaced. Contents and name are flushed to the disk. A pipe or a device is
    written directly. Raises `InputError` if the folder is not writable or the disk is full; `path` is then unchanged.
    """
    target = _resolved(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    aside = target.parent / _aside_name(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield aside
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.replace(target)
        _flush_names(target.parent)
    except OSError as error:
        problem = (
            os.strerror(error.errno) if error.errno else error
        )  # h5py puts text into strerror
        raise InputError(f"cannot write: {problem}", file=target) from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Writes a file in UTF-8 as `atomic_write` does."""
    with atomic_write(path) as aside:
        aside.write_text(text, "utf-8")


@contextmanager
def atomic_write_folder(target: Path) -> Iterator[Path]:
    """
    Yields a temporary folder, whose files are moved to `target` at the end, or removed after an exception. Other files
    in `target` are kept. Raises `InputError` if `target` is not writable.
    """
    home = target if target.is_dir() else target.parent
    aside = home / _aside_name(target)
    try:
        aside.mkdir(parents=True)
        yield aside
        target.mkdir(exist_ok=True)
        for path in sorted(aside.iterdir()):
            with atomic_write(target / path.name) as beside:
                shutil.move(path, beside)
    except OSError as error:
        raise InputError(
            f"cannot write: {error.strerror or error}", file=target
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def leftovers(folder: str | Path) -> Iterator[Path]:
    """Temporary files in a folder whose process has ended. This process must not be writing any."""
    named = (
        (path, _ASIDE.fullmatch(path.name)) for path in list(Path(folder).iterdir())
    )
    return (
        path
        for path, match in named
        if match and path.is_file() and not _is_another(int(match[1]))
    )


def _resolved(path: str | Path) -> Path:
    """The path without links; of a pipe behind `/dev/stdout`, which has no other name, the path itself."""
    target = Path(os.path.realpath(path))
    return target if target.exists() or not Path(path).exists() else Path(path)


def _aside_name(target: Path) -> str:
    """Not of another host's process with the same id, either, on a shared folder."""
    return f".{target.name}.{secrets.token_hex(4)}.{os.getpid()}.tmp"


def _is_another(process: int) -> bool:
    """Whether another process with this id is running on this machine."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return process != os.getpid()


def _flush_names(folder: Path) -> None:
    """Flushes the names in a folder, if the system can open folders."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
