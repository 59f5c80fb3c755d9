"""
Compressed files and archives from anywhere: read within bounds; only regular files are
unpacked, of an archive only those of known names.
"""

import gzip
import io
import os
import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from elmo_tasks.errors import InputError, needs

MOST_RATIO = 100  # how many times its size a compressed file may unpack to
SMALL = 2**21  # bytes that any compressed text may unpack to, however short it is

TAR_HINT = "`tar tzf` lists its members; copy or write it again"

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""The first bytes of compressed files."""

_SMALL_ARCHIVE = 2**26
_AGAIN = "copy or download it again"
_PART = 2**20

_STANDARD = re.compile(r"/dev/(stdin|fd/)|/proc/self/fd/")
"""Pipes that are read; others may have to be read twice."""


def is_zip(file: Path) -> bool:
    """Whether a file begins as a ZIP does."""
    with file.open("rb") as opened:
        return opened.read(4) == b"PK\x03\x04"


def compression(opened: io.BufferedReader) -> str | None:
    """`gzip` or `zstd` if a file begins as these do. Does not move the position."""
    start = opened.peek(4)
    for magic, name in _MAGIC.items():
        if start.startswith(magic):
            return name
    return None


def unpacked(opened: io.BufferedReader) -> io.BufferedReader:
    """
    The contents of a file, decompressed if it is gzip or zstd. Reading raises
    `OSError`, `EOFError` or `zlib.error` if it is damaged.
    """
    found = compression(opened)
    if found is None:
        return opened
    if found == "gzip":
        return cast(io.BufferedReader, gzip.GzipFile(fileobj=opened))
    with needs("pyarrow"):
        from pyarrow import CompressedInputStream
    return io.BufferedReader(CompressedInputStream(opened, "zstd"), 2**16)


def check_ratio(
    size: int, packed: int, file: str | Path, *, least: int = SMALL
) -> None:
    """
    Raises `InputError` if `packed` bytes unpack to `size`, more than `least` and a
    hundred times as many.
    """
    if size > max(least, MOST_RATIO * packed):
        problem = f"the file unpacks to more than {MOST_RATIO} times its size"
        raise InputError(
            problem, file=file, hint="if this is intended, unpack it yourself"
        )


def require_regular(file: str | Path) -> None:
    """
    Raises `InputError` for a pipe, whose opening would wait for ever, or a device, but
    not for standard input.
    """
    is_other = os.path.exists(file) and not os.path.isfile(file)
    if is_other and not os.path.isdir(file) and not _STANDARD.match(str(file)):
        problem = "expected a regular file, got a pipe or a device"
        raise InputError(problem, file=file, hint="save it to a file")


def unpack(
    file: Path,
    folder: str | Path,
    names: Sequence[str],
) -> None:
    """
    Unpack a tar file, plain or compressed, to a folder that nobody else writes to.
    `names` are patterns of the members, where `*` does not match a slash; others are
    ignored. The file is read to its end, so that the checksum of gzip is compared.

    Raises `InputError` if the file is missing or damaged, unpacks to more than a
    hundred times its size (or 64 MB), or has a link, a device or a sparse file.
    """
    require_regular(file)
    try:
        with file.open("rb") as raw:
            stream = io.BufferedReader(_Bounded(raw, file), 2**16)
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    _require_plain(member, file)
                    name = member.name.removeprefix("./")
                    if member.isfile() and _is_known(name, names):
                        archive.extract(member, folder, filter="data")
            while stream.read(_PART):
                pass
    except InputError:
        raise
    except Exception as error:  # damaged files raise errors of any kind
        raise InputError(
            f"the archive cannot be unpacked: {error}", file=file, hint=TAR_HINT
        ) from error


def _require_plain(member: tarfile.TarInfo, file: str | Path) -> None:
    """Raises `InputError` if a member is neither a regular file nor a folder."""
    if member.issparse() or not (member.isfile() or member.isdir()):
        problem = "expected files and folders in the archive, no links and devices"
        raise InputError(
            f"{problem}, got {member.name!r:.100}", file=file, hint=TAR_HINT
        )


def unzip(file: Path, folder: Path) -> None:
    """
    Unpack the files in a ZIP to a folder that nobody else writes to, without the
    folders in their names. Of two members with one name, the one in fewer folders is
    the model's; the other may be of a part of it. Hidden files are ignored.

    Raises `InputError` if the file is damaged or encrypted, unpacks to more than a
    hundred times its size (or 64 MB), or has two such members in equally many folders.
    """
    require_regular(file)
    try:
        with zipfile.ZipFile(file) as archive:
            members = _members(archive, file)
            # No member unpacks to more than its size in the list.
            size = sum([member.file_size for member in members.values()])
            check_ratio(size, file.stat().st_size, file, least=_SMALL_ARCHIVE)
            for name, member in members.items():
                with archive.open(member) as content, (folder / name).open("xb") as out:
                    shutil.copyfileobj(content, out)
    except InputError:
        raise
    except Exception as error:  # damaged files raise errors of any kind
        problem = f"the ZIP cannot be unpacked: {error}"
        raise InputError(problem, file=file, hint=_AGAIN) from None


def _members(archive: zipfile.ZipFile, file: Path) -> dict[str, zipfile.ZipInfo]:
    """The members of a ZIP by the names that their files get."""
    found: dict[str, zipfile.ZipInfo] = {}
    for member in sorted(archive.infolist(), key=_depth):
        name = member.filename.rpartition("/")[2]
        if not name or name.startswith("."):
            continue
        if name not in found:
            found[name] = member
        elif _depth(member) == _depth(found[name]):
            raise InputError(f"the ZIP has two members named {name}", file=file)
    return found


def _depth(member: zipfile.ZipInfo) -> int:
    """In how many folders a member of a ZIP is."""
    return member.filename.count("/")


def _is_known(name: str, patterns: Sequence[str]) -> bool:
    if name.startswith("."):
        return False
    for pattern in patterns:
        if fnmatchcase(name, pattern) and name.count("/") == pattern.count("/"):
            return True
    return False


class _Bounded(io.RawIOBase):
    """
    The contents of an archive, decompressed; an `InputError` as `check_ratio` raises it,
    unless the file is a pipe.
    """

    def __init__(self, opened: io.BufferedReader, file: str | Path) -> None:
        self._packed = _size(opened)
        self._file = file
        self._count = 0
        self._stream = unpacked(opened)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._stream.read1(len(buffer))
        buffer[: len(found)] = found
        self._count += len(found)
        check_ratio(self._count, self._packed, self._file, least=_SMALL_ARCHIVE)
        return len(found)


def _size(opened: io.BufferedReader) -> int:
    if not opened.seekable():
        return sys.maxsize
    size = opened.seek(0, io.SEEK_END)
    opened.seek(0)
    return size
