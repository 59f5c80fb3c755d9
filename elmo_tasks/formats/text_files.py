"""Text files, plain, gzip or zstd, in UTF-8. Errors name the file and the line."""

import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from glob import glob
from gzip import BadGzipFile
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from elmo_tasks.errors import InputError, needs
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.unpacking import require_regular, unpacked

Item = TypeVar("Item")

LONGEST_LINE = 2**20  # in characters; the tokens take about twenty times its memory
_MOST_JSON = 2**20

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_REMOTE_BUFFER = 2**20
_DESCRIPTOR = re.compile(r"/dev/(stdin|fd/[0-9]+)|/proc/self/fd/[0-9]+")


def open_text(
    path: str | Path,
    *,
    corpus_hint: str | None = None,
    longest: int | None = LONGEST_LINE,
    first: int = 1,
) -> Iterator[tuple[int, str]]:
    """
    Streams the lines of a UTF-8 text file, from line `first` on.

    Gzip and zstd (with pyarrow) are detected by the first bytes, whatever the file name. A byte order mark and the
    carriage return of CRLF are dropped. Only a line feed ends a line, not U+2028 and the like.

    Yields line numbers, counted from 1, and lines without their ends. Raises `InputError` if the file cannot be opened
    or read (`corpus_hint` says where to get a missing corpus), a line has more than `longest` characters, is not UTF-8
    or binary (NUL), or the file is compressed and truncated, damaged, or unpacks to more than a hundred times its size.
    Lines before the error have been yielded, up to a buffer before damage in a compressed file.
    """
    with open_binary(path, corpus_hint) as opened:
        for number, line in islice(lines_of(opened, path), first - 1, None):
            if isinstance(line, InputError):
                raise line
            if longest is not None and len(line) > longest:
                problem = f"expected lines of at most {longest:,} characters, got one of {len(line):,}"
                raise InputError(
                    problem,
                    file=path,
                    line=number,
                    hint="does the file have line breaks?",
                )
            yield number, line


def lines_of(
    opened: BufferedReader, name: str | Path
) -> Iterator[tuple[int, str | InputError]]:
    """
    Like `open_text`, for a file that is already open; `name` is for error messages. A line that is not UTF-8 or binary
    is replaced by its error.
    """
    for number, raw in raw_lines(opened, name):
        try:
            line: str | InputError = decode_line(raw, name, number)
        except InputError as error:
            line = error
        yield number, line


def raw_lines(opened: BufferedReader, name: str | Path) -> Iterator[tuple[int, bytes]]:
    """
    Line numbers and lines with their ends, as bytes, unpacked if the file is compressed. Raises `InputError` if it
    cannot be read.
    """
    number = 0
    try:
        for number, raw in enumerate(unpacked(opened, name), start=1):
            yield number, raw
    except (EOFError, zlib.error, BadGzipFile) as error:
        problem, hint = (
            "the gzip stream is truncated or damaged from here on",
            "fetch or compress the file again",
        )
        raise InputError(problem, file=name, line=number + 1, hint=hint) from error
    except OSError as error:
        raise InputError(
            f"cannot read the file: {error.strerror or error}",
            file=name,
            line=number + 1,
        ) from error


def read_json(path: str | Path, what: str) -> Any:
    """The value in a small JSON file. Raises `InputError` if it is no JSON, larger than 1 MB or cannot be read."""
    try:
        require_regular(path)
        if (size := Path(path).stat().st_size) > _MOST_JSON:
            raise InputError(
                f"expected {what}, got a file of {size:,} bytes", file=path
            )
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {what}: {error}", file=path) from None
    try:
        return json.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # also numbers of thousands of digits, and deep brackets
        problem, line = getattr(error, "msg", error), getattr(error, "lineno", None)
        raise InputError(f"not JSON: {problem}", file=path, line=line) from None


def not_empty(items: Iterable[Item], problem: str, file: str | Path) -> Iterator[Item]:
    """The items of a file, read lazily. Raises `InputError` at the end if there was none."""
    found = False
    for item in items:
        found = True
        yield item
    if not found:
        raise InputError(problem, file=file)


def open_binary(path: str | Path, corpus_hint: str | None = None) -> BufferedReader:
    """
    Opens a file for reading bytes; for the parameters see `open_text`. pyarrow opens URIs such as `s3://bucket/file`.
    Raises `InputError` if the file is missing, a folder or unreadable, a pipe or a device other than `/dev/stdin`,
    `/dev/fd/N`, or the path is invalid.
    """
    try:
        if "://" in str(path):
            with needs("pyarrow"):
                from pyarrow.fs import FileSystem
            files, place = FileSystem.from_uri(str(path))
            return BufferedReader(files.open_input_file(place), _REMOTE_BUFFER)
        found = located(path)
        if not _DESCRIPTOR.fullmatch(found):
            require_regular(found)
        return open(found, "rb")
    except FileNotFoundError:
        where = (
            "in the config or on the command line"
            if corpus_hint is None
            else f"and the data root; {corpus_hint}"
        )
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
    The files that a path, a URI or a glob (`**` is recursive) matches, sorted, with absolute paths; a glob in a URI is
    in the file's name. Raises `InputError` if there is none, or a pipe or a device.
    """
    if "://" in pattern:
        with needs("pyarrow"):
            from pyarrow.fs import FileSelector, FileSystem
        folder, _, name = pattern.rpartition("/")
        try:
            files, place = FileSystem.from_uri(folder)
            found = files.get_file_info(FileSelector(place, allow_not_found=True))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot list the files: {error}", file=pattern) from None
        names = [
            f"{folder}/{one.base_name}"
            for one in found
            if one.is_file and fnmatchcase(one.base_name, name)
        ]
    else:
        matches = (
            [pattern] if os.path.isfile(pattern) else glob(pattern, recursive=True)
        )
        names = [os.path.abspath(name) for name in matches if not os.path.isdir(name)]
        for name in names:
            require_regular(name)
    if not names:
        raise InputError("expected files, nothing matches", file=pattern)
    return sorted(names)


def decode_line(raw: bytes, path: str | Path, number: int) -> str:
    """
    Decodes a line without its end and, in line 1, without a byte order mark. Raises `InputError` if it is not UTF-8 or
    contains a NUL byte.
    """
    if number == 1:
        raw = raw.removeprefix(_BYTE_ORDER_MARK)
    if 0 in raw:
        raise InputError(
            "expected text, got binary data (a NUL byte)", file=path, line=number
        )
    try:
        return raw.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"expected UTF-8 text, got 0x{raw[error.start]:02x} as byte {error.start + 1} of the line"
        hint = "convert Latin-1 with `iconv -f latin1 -t utf-8`"
        raise InputError(problem, file=path, line=number, hint=hint) from error
