"""Write the ELMo vectors of a text to an HDF5 file, and resume after an interruption."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import h5py
from filelock import FileLock, Timeout

from elmo_tasks.atomic import atomic_write, check_output_path
from elmo_tasks.elmo.extraction import Extraction, workers
from elmo_tasks.elmo.vector_writer import COUNTS, ORDER, DiskFile, VectorLayout, VectorWriter, open_hdf5
from elmo_tasks.elmo.vectors import FORMAT, ElmoVectors, read_attributes
from elmo_tasks.errors import InputError, shown

Lines = Iterable[tuple[int, str]]
"""Line numbers, counted from 1, and lines."""

_PART = ".part"
_PATHS = ("input", "options_file", "weight_file")  # may differ when a call resumes: files may have moved


def extract(
    extraction: Extraction,
    lines: Lines,
    out: str | Path,
    *,
    force: bool = False,
    processes: int = 1,
    started: Callable[[Mapping[str, int]], None] = lambda counts: None,
    progress: Callable[[int], None] = lambda tokens: None,
) -> bool:
    """
    Write the vectors of all lines to `out`, which is called `out.part` until it is complete.

    If `out.part` exists, the call resumes; if `out` is complete, it returns. Both must be from a call with the same
    text and settings.

    # Parameters

    - `lines`: read once, and not kept in memory.
    - `force`: discard a partial result and start from scratch. An existing `out` is replaced when the new file is
      complete.
    - `processes`: processes that compute vectors, if more than one.
    - `started`: called with the numbers of sentences, tokens, blank and long lines before the first vector is computed.
    - `progress`: called with the number of tokens whose vectors have been written since the last call.

    Returns whether anything was written. Raises `InputError` if a line is invalid, a file exists from another call,
    another process writes to it, or the disk is full.
    """
    check_vector_path(out)
    out, part = Path(out), _part(out)
    if out.exists() and not force:
        with ElmoVectors(out) as vectors:
            _check_same(out, vectors.info, extraction.attributes, lines)
        return False
    resumed = part.exists() and not force
    if not resumed:
        _create(part, lines, extraction)
    with _open_part(part) as (file, hdf5):
        attributes = read_attributes(hdf5, part)
        if resumed:
            _check_same(part, attributes, {**extraction.attributes, **ORDER}, lines)
        started({name: int(attributes[name]) for name in COUNTS})
        with workers(extraction, processes) as pool:
            VectorWriter(hdf5, file, extraction, progress, pool).write_all()
        _rename(file, out)
    return True


def check_vector_path(out: str | Path, *, read: Iterable[str | Path | None] = ()) -> None:
    """Raise `InputError` if `out` or `out.part` cannot be written, or is one of the files in `read`."""
    if Path(out).suffix == _PART:
        raise InputError(f"expected a file name that does not end in {_PART}", file=out)
    files = list(read)
    check_output_path(out, read=files)
    check_output_path(_part(out), read=files)


def _part(out: str | Path) -> Path:
    return Path(out).with_name(Path(out).name + _PART)


def _check_same(file: Path, found: Mapping[str, Any], expected: Mapping[str, Any], lines: Lines) -> None:
    """Raise `InputError` if the attributes `found` of a file are not those expected, or its text is not `lines`."""
    expected = {key: value for key, value in expected.items() if key not in _PATHS}
    if all(found.get(key) == value for key, value in expected.items()):
        text = sha256()
        for _, line in lines:
            text.update(line.encode() + b"\n")
        expected = {"text_sha256": text.hexdigest()}
    differing = [
        f"{key} was {shown(found.get(key))}, is {shown(value)}"
        for key, value in expected.items()
        if found.get(key) != value
    ]
    if differing:
        hint = "use the same input and options to resume, another file name, or --force to start from scratch"
        raise InputError("was begun by another call: " + "; ".join(differing), file=file, hint=hint)


def _create(part: Path, lines: Lines, extraction: Extraction) -> None:
    """Write all of the file but the vectors, and reserve their space."""
    text = sha256()
    with atomic_write(part) as temporary, DiskFile(temporary, "w+", part) as file:
        with open_hdf5(file, "w") as hdf5:
            layout = VectorLayout(hdf5, extraction)
            for number, line in lines:
                text.update(line.encode() + b"\n")
                try:
                    layout.add(line)
                except InputError as error:
                    name = str(extraction.settings["input"])
                    raise InputError(str(error), file=name, line=number) from None
                file.check()
            layout.finish()
            attributes = {**extraction.attributes, **ORDER, **layout.counts, "text_sha256": text.hexdigest()}
            hdf5.attrs.update({"format": FORMAT, **attributes})
        file.reserve()


@contextmanager
def _open_part(part: Path) -> Iterator[tuple[DiskFile, h5py.File]]:
    """Open an existing file for writing, unless another process does."""
    lock = part.with_name(f"{part.name}.lock")
    with ExitStack() as stack:
        try:
            stack.enter_context(FileLock(lock, timeout=0))
            stack.callback(_unlink, lock)
            file = stack.enter_context(DiskFile(part, "r+", part))
        except Timeout:
            raise InputError("another process is writing this file", file=part) from None
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", file=part) from None
        with open_hdf5(file, "r+") as hdf5:
            yield file, hdf5


def _unlink(lock: Path) -> None:
    with suppress(OSError):  # Windows removes it on release
        lock.unlink()


def _rename(file: DiskFile, out: Path) -> None:
    try:
        if not os.path.samestat(os.fstat(file.fileno()), file.path.stat()):
            raise InputError("the file was replaced by another process", file=file.path)
        file.path.replace(out)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=out) from None
