"""Unpacking an archive."""

import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path

from elmo_tasks.errors import InputError

_MOST_PACKED = 100
_HARMLESS = 2**26  # bytes, to which an archive of any size can unpack


def unpack(file: Path, folder: Path) -> None:
    """Unpacks a gzipped tar into a folder. Raises `InputError` if it is damaged, unsafe, or a decompression bomb."""
    try:
        with tarfile.open(file, "r:gz") as archive:
            archive.extractall(folder, filter=_bounded(file))
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise InputError(f"the archive cannot be unpacked: {error}", file=file) from error


def _bounded(file: Path) -> Callable[[tarfile.TarInfo, str], tarfile.TarInfo | None]:
    total, most = 0, max(_HARMLESS, _MOST_PACKED * file.stat().st_size)

    def filtered(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
        nonlocal total
        total += member.size
        if total > most:
            problem = f"the archive unpacks to more than {_MOST_PACKED} times its size, more than any model"
            raise InputError(problem, file=file)
        return tarfile.data_filter(member, folder)

    return filtered
