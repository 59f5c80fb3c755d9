"""
HDF5 files: written safely, and read without following links out of the file. Requires
numpy and h5py only.
"""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from elmo_tasks.errors import InputError
from elmo_tasks.formats.unpacking import MOST_RATIO
from elmo_tasks.system.files import atomic_write

_SMALL = 2**24  # bytes that may be allocated for any dataset


def write_hdf5(
    arrays: dict[str, np.ndarray],
    path: str | Path,
    *,
    mantissa_bits: int | None = None,
    compress: bool = True,
) -> None:
    """Writes float32 arrays atomically, optionally rounded to `mantissa_bits`."""
    how: dict[str, Any] = {}
    if compress:
        how = {"shuffle": True, "compression": "gzip", "compression_opts": 9}
    image = io.BytesIO()  # HDF5 crashes the process on a full disk
    with h5py.File(image, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=round_mantissa(array, mantissa_bits), **how)
    with atomic_write(path) as aside:
        # Not getbuffer(): a view in a traceback crashes Python 3.12.
        aside.write_bytes(image.getvalue())


def round_mantissa(array: np.ndarray, bits: int | None) -> np.ndarray:
    """Rounds float32 values to `bits` (0 to 23) bits of mantissa, ties to even."""
    values = np.ascontiguousarray(array, dtype=np.float32)
    if bits is None:
        return values
    significand, exponent = np.frexp(values)  # a significand is from 0.5 to 1
    rounded = np.rint(np.ldexp(significand, bits + 1))
    return np.ldexp(rounded, exponent - (bits + 1)).astype(np.float32, copy=False)


@contextmanager
def reading(
    file: str | Path, problem: str, *, hint: str | None = None
) -> Iterator[None]:
    """
    Raises `InputError`, which starts with `problem`, in place of h5py's errors for
    damaged files.
    """
    try:
        yield
    except InputError:
        raise
    except (KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise InputError(f"{problem}: {error}", file=file, hint=hint) from None


def not_stored(dataset: h5py.Dataset) -> str | None:
    """
    Why the values of a dataset are not read: they are in another file, which the file's
    checksum does not cover, or would take far more memory than the file has bytes for.
    """
    if dataset.external is not None or dataset.is_virtual:
        return "expected its values in the file itself"
    if dataset.size is None:  # it has no values
        return None
    claimed = int(dataset.nbytes)
    stored = dataset.id.get_storage_size()
    if claimed > max(_SMALL, MOST_RATIO * stored):
        return f"expected {claimed:,} bytes, got {stored:,}"
    return None


def own_dataset(file: h5py.File, name: str) -> h5py.Dataset:
    """
    A dataset in the file itself. No values are read. Raises `KeyError` if there is
    none, `TypeError` if it is not a dataset, and `InputError` as `not_stored` says.
    """
    item = file[name]
    if not isinstance(item, h5py.Dataset):
        raise TypeError(
            f"expected a dataset {name!r}, got a {type(item).__name__.lower()}"
        )
    problem = not_stored(item)
    if item.file.filename != file.filename:
        problem = "expected a dataset, got a link to another file"
    if problem is not None:
        raise InputError(f"dataset {name!r:.100}: {problem}", file=file.filename)
    return item


class _DiskFile(io.FileIO):
    """
    Records an error instead of raising it, since HDF5 crashes the process if it cannot
    write.
    """

    error: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.error = self.error or error
        return size

    def truncate(self, size: int | None = None) -> int:
        try:
            return super().truncate(size)
        except OSError as error:
            self.error = self.error or error
            return size or 0


@contextmanager
def new_hdf5(opened: Path, *, size: int, name: Path) -> Iterator[h5py.File]:
    """
    A new file, which errors call `name`, with disk space for `size` bytes, where the
    system can reserve it; the file is truncated to what it needs when it is closed.
    Raises `InputError` if the disk is full.
    """
    with _DiskFile(opened, "w+") as file:
        try:
            with h5py.File(file, "w") as hdf5:
                _reserve(file, size, name)
                yield hdf5
        finally:
            if file.error is not None:
                raise InputError(
                    f"cannot write: {file.error.strerror}",
                    file=name,
                    hint="free some disk space",
                )


def _reserve(file: io.FileIO, size: int, name: Path) -> None:
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            problem = f"cannot reserve {size:,} bytes of disk space: {error.strerror}"
            raise InputError(
                problem,
                file=name,
                hint="--int8, --float16, --top and --average need less",
            ) from None
