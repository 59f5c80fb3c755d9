"""
The members of a tar file from anywhere, in bounded time and memory.

Python's `tarfile` reads extension headers with expressions that take quadratic time
(CVE-2024-6232), lists of holes of any length, and chains of headers by recursion. Only
its parser of one header block is used here.
"""

import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from elmo_tasks.errors import InputError

TAR_HINT = "`tar tzf` lists its members; copy or write it again"

_BLOCK = 512
_PART = 2**20
_MOST_MEMBERS = 10_000
_MOST_NAME = 1024  # bytes
_MOST_EXTENSION = 2**16  # bytes of an extension header
_MOST_EXTENSIONS = 2**22  # bytes of all

_PAX, _GLOBAL_PAX, _LONG_NAME, _LONG_LINK = b"xX", b"g", b"L", b"K"
_EXTENSIONS = _PAX + _GLOBAL_PAX + _LONG_NAME + _LONG_LINK
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)


def tar_members(
    stream: BinaryIO, file: str | Path
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """
    Names and contents of the regular files of an uncompressed tar file, which errors
    call `file`. What is not read of a content is skipped.

    Understands the names and sizes of POSIX (pax) and GNU headers, and ignores what
    else they say. Raises `InputError` beyond the bounds that `unpack` documents, for a
    member that is neither a file nor a folder, and for a sparse file;
    `tarfile.TarError`, `EOFError` or `ValueError` for a damaged file.
    """
    count = extensions = 0
    extended: dict[str, bytes] = {}
    for header in iter(partial(_header, stream), None):
        if header.type in _EXTENSIONS:
            _require_size(header, file)
            extensions += _BLOCK + header.size
            if extensions > _MOST_EXTENSIONS:
                problem = f"expected extension headers of at most {_MOST_EXTENSIONS:,} bytes, got more"
                raise InputError(problem, file=file, hint=TAR_HINT)
            extended |= _extension(header, b"".join(_content(stream, header.size)))
            continue
        name = _name(header, extended, file)
        size = _size(header, extended)
        extended = {}
        count += 1
        if count > _MOST_MEMBERS or not (header.isdir() or header.type in _FILES):
            problem = f"expected at most {_MOST_MEMBERS:,} files and folders in the archive, no links and devices"
            raise InputError(f"{problem}, got {name!r:.100}", file=file, hint=TAR_HINT)
        if not header.isdir():
            content = _content(stream, size)
            yield name.removeprefix("./"), content
            for _ in content:
                pass
    if not count:
        raise EOFError("it has no members")


def is_tar(start: bytes) -> bool:
    """Whether a file that begins so could be taken for a tar file."""
    try:
        tarfile.TarInfo.frombuf(start[:_BLOCK], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """
    A member to be written, without the name and number of the user and the group; a
    filter of `TarFile.add`.
    """
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _header(stream: BinaryIO) -> tarfile.TarInfo | None:
    """The next header; `None` at the end, which a block of zeros marks."""
    block = stream.read(_BLOCK)
    if not block.strip(b"\0"):
        return None
    return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")


def _require_size(header: tarfile.TarInfo, file: str | Path) -> None:
    if not 0 <= header.size <= _MOST_EXTENSION:
        problem = f"expected extension headers of at most {_MOST_EXTENSION:,} bytes, got one of {header.size:.4g}"
        raise InputError(problem, file=file, hint=TAR_HINT)


def _extension(header: tarfile.TarInfo, content: bytes) -> dict[str, bytes]:
    """What an extension header says of the next member: its `path` or its `size`."""
    if header.type in _LONG_NAME:
        return {"path": content.rstrip(b"\0")}
    if header.type in _LONG_LINK:
        return {}
    records = _pax_records(content)
    known: dict[str, bytes] = {}
    for key, value in records.items():
        if key.startswith("GNU.sparse."):
            raise ValueError("expected no sparse file, got one")
        if key in ("path", "size"):
            known[key] = value
    if known and header.type in _GLOBAL_PAX:
        raise ValueError(
            "expected each header to describe one file, got a global header"
        )
    return known


def _pax_records(content: bytes) -> dict[str, bytes]:
    """
    The values of lines `LENGTH KEY=VALUE`, in one pass; `LENGTH` is that of the line
    with its end.
    """
    records: dict[str, bytes] = {}
    start = 0
    while start < len(content) and content[start]:
        blank = content.find(b" ", start, start + 20)
        digits = content[start:blank]
        if blank < 0 or not digits.isdigit():
            raise ValueError("an extension header is damaged")
        end = start + int(digits)
        key, is_pair, value = content[blank + 1 : end].partition(b"=")
        if end > len(content) or content[end - 1 : end] != b"\n" or not is_pair:
            raise ValueError("an extension header is damaged")
        records[key.decode("utf-8", "replace")] = value[:-1]
        start = end
    return records


def _name(header: tarfile.TarInfo, extended: dict[str, bytes], file: str | Path) -> str:
    name = header.name
    if "path" in extended:
        name = extended["path"].decode("utf-8", "surrogateescape")
    if len(name) > _MOST_NAME or "\0" in name:
        problem = f"expected names of at most {_MOST_NAME:,} characters in the archive"
        raise InputError(f"{problem}, got {name!r:.100}", file=file, hint=TAR_HINT)
    return name


def _size(header: tarfile.TarInfo, extended: dict[str, bytes]) -> int:
    size = header.size
    if "size" in extended:
        given = extended["size"]
        if not given.isdigit() or len(given) >= 20:
            raise ValueError("an extension header is damaged")
        size = int(given)
    if size < 0:
        raise ValueError(f"expected sizes of at least 0, got {size}")
    return size


def _content(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """A member's content, in parts; then what fills its last block is read, too."""
    left = size
    while left:
        part = stream.read(min(left, _PART))
        if not part:
            raise EOFError("it ends inside a file")
        left -= len(part)
        yield part
    stream.read(-size % _BLOCK)
