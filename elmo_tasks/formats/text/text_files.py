"""
Text files, plain, gzip or zstd, in UTF-8: what a line is, for every reader. Errors name
the file and the line.

| in the file | in the lines |
|---|---|
| LF, CRLF, CR CR LF, CR alone | a line end |
| U+2028, U+0085, form feeds, other control characters | part of the line |
| byte order marks where a file or a line begins (after `cat`) | dropped |
| NUL, bytes that are not UTF-8 | an error |
"""

import os
import zlib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from glob import glob
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

from elmo_tasks.errors import InputError, needs
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.unpacking import require_regular, unpacked

Item = TypeVar("Item")

LONGEST_LINE = 2**20  # in characters; the tokens take about twenty times its memory

MARK = "\ufeff"
"""The byte order mark."""

_REMOTE_BUFFER = 2**20


def open_text(
    path: str | Path,
    *,
    corpus_hint: str | None = None,
    longest: int | None = LONGEST_LINE,
    keep_marks: bool = False,
) -> Iterator[tuple[int, str]]:
    """
    Streams the lines of a UTF-8 text file. The table above says what a line is.

    Gzip and zstd (with pyarrow) are detected by the first bytes, whatever the file
    name. With `keep_marks`, byte order marks are dropped in line 1 only, for formats in
    which a word that begins with one may begin a line.

    Yields line numbers, counted from 1, and lines without their ends. Raises
    `InputError` if the file cannot be opened or read (`corpus_hint` says where to get a
    missing corpus), a line has more than `longest` characters, is not UTF-8 or binary
    (NUL), or the file is compressed and truncated or damaged. Lines before the error
    have been yielded, up to a buffer before damage in a compressed file.
    """
    with open_binary(path, corpus_hint) as opened:
        for number, raw in raw_lines(opened, path):
            line = decode_line(raw, path, number, keep_marks=keep_marks)
            if longest is not None and len(line) > longest:
                problem = f"expected lines of at most {longest:,} characters"
                raise InputError(
                    f"{problem}, got one of {len(line):,}",
                    file=path,
                    line=number,
                    hint="does the file have line breaks?",
                )
            yield number, line


def raw_lines(opened: BufferedReader, name: str | Path) -> Iterator[tuple[int, bytes]]:
    """
    Line numbers and lines with their ends, as bytes, unpacked if the file is
    compressed. Raises `InputError` if it cannot be read.
    """
    number = 0
    try:
        for number, raw in enumerate(_split_lines(unpacked(opened)), start=1):
            yield number, raw
    except (EOFError, zlib.error, OSError) as error:
        raise InputError(
            f"cannot read the file from here on: {error}",
            file=name,
            line=number + 1,
            hint="if it is compressed, fetch or compress it again",
        ) from error


def _split_lines(stream: BufferedReader) -> Iterator[bytes]:
    for raw in stream:
        if b"\r" in raw.rstrip(b"\r\n"):
            yield from raw.splitlines(keepends=True)
        else:
            yield raw


def not_empty(items: Iterable[Item], problem: str, file: str | Path) -> Iterator[Item]:
    """
    The items of a file, read lazily. Raises `InputError` at the end if there was none.
    """
    found = False
    for item in items:
        found = True
        yield item
    if not found:
        raise InputError(problem, file=file)


def open_binary(path: str | Path, corpus_hint: str | None = None) -> BufferedReader:
    """
    Opens a file for reading bytes; for the parameters see `open_text`. pyarrow opens
    URIs such as `s3://bucket/file`. Raises `InputError` if the file is missing, a
    folder or unreadable, a pipe or a device other than standard input, or the path is
    invalid.
    """
    try:
        if "://" in str(path):
            with needs("pyarrow"):
                from pyarrow.fs import FileSystem
            files, remote_path = FileSystem.from_uri(str(path))
            return BufferedReader(files.open_input_file(remote_path), _REMOTE_BUFFER)
        local = located(path)
        require_regular(local)
        return open(local, "rb")
    except FileNotFoundError:
        where = "in the config or on the command line"
        if corpus_hint is not None:
            where = f"and the data root; {corpus_hint}"
        raise InputError(
            "no such file", file=path, hint=f"check the path {where}"
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot open the file: {error.strerror or error}", file=path
        ) from error
    except InputError:
        raise
    except ValueError as error:  # NUL or a surrogate, or an unknown kind of URI
        raise InputError(f"invalid path {str(path)!r:.200}: {error}") from None


def list_files(pattern: str) -> list[str]:
    """
    The files that a path, a URI or a glob (`**` is recursive) matches, sorted, with
    absolute paths; a glob in a URI is in the file's name. Raises `InputError` if there
    is none.
    """
    if "://" in pattern:
        names = _remote_files(pattern)
    elif os.path.isfile(pattern):
        names = [os.path.abspath(pattern)]
    else:
        names = []
        for match in glob(pattern, recursive=True):
            if not os.path.isdir(match):
                names.append(os.path.abspath(match))
    if not names:
        raise InputError("expected files, nothing matches", file=pattern)
    return sorted(names)


def _remote_files(pattern: str) -> list[str]:
    """The files that a glob at the end of a URI matches."""
    with needs("pyarrow"):
        from pyarrow.fs import FileSelector, FileSystem
    folder, _, wanted = pattern.rpartition("/")
    try:
        files, path = FileSystem.from_uri(folder)
        found = files.get_file_info(FileSelector(path, allow_not_found=True))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot list the files: {error}", file=pattern) from None
    names = []
    for file in found:
        if file.is_file and fnmatchcase(file.base_name, wanted):
            names.append(f"{folder}/{file.base_name}")
    return names


def decode_line(
    raw: bytes,
    path: str | Path,
    number: int,
    *,
    keep_marks: bool = False,
) -> str:
    """
    Decodes a line without its end and without byte order marks at its beginning; with
    `keep_marks`, they are dropped in line 1 only.

    Raises `InputError` if the line is not UTF-8 or contains a NUL byte.
    """
    if 0 in raw:
        problem = "expected text, got binary data (a NUL byte)"
        hint = "unpack it, save it as CSV UTF-8, or convert it with `iconv -f utf-16 -t utf-8`"
        raise InputError(problem, file=path, line=number, hint=hint)
    try:
        line = raw.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8 text, got 0x{raw[error.start]:02x} as byte {error.start + 1} of the line"
        hint = (
            "`iconv -f cp1252 -t utf-8` converts a file of Windows or Excel, and Latin-1;"
            " in a file that is UTF-8 elsewhere, `iconv -c -f utf-8 -t utf-8` drops such"
            " bytes"
        )
        raise InputError(problem, file=path, line=number, hint=hint) from error
    if keep_marks and number > 1:
        return line
    return line.lstrip(MARK)
