"""Text files as every reader opens them: plain or gzip, UTF-8, faults told with file and line."""

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from elmo_tasks.errors import InputError
from elmo_tasks.settings import DATA_VARIABLE

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

LONGEST_LINE = 2**20
"""Characters of a line of words at most."""

_BUFFER = 2**17
_PIECE = 2**12
"""Bytes that are unpacked at a time: as many, at most, are lost before the place where a gzip stream is damaged."""

_MOST_PACKED = 100
_HARMLESS = 2**21
"""Bytes that a gzip stream may unpack to, however short it is."""


def open_text(
    path: str | Path, *, corpus_hint: str | None = None, longest: int | None = LONGEST_LINE
) -> Iterator[tuple[int, str]]:
    """
    Streams the lines of a UTF-8 text file; memory does not grow with the file.

    Gzip is recognised by its first bytes, whatever the file is called. A byte order mark and the
    carriage return of a CRLF line end are dropped; only a line feed ends a line (never U+2028 and
    the like).

    # Parameters

    path : `str` or `Path`
        The file.
    corpus_hint : `str`, optional
        Where the corpus comes from, said when a file below the data root is missing.
    longest : `int`, optional
        Characters that a line may have; what is made of a line of words takes some twenty times its memory.

    # Returns

    `Iterator[tuple[int, str]]`
        Line number, counted from 1, and the line without its end.

    # Raises

    `InputError`
        At the first step, if the file is missing, a folder or unreadable; at its line, if it is too long, if bytes are
        not UTF-8 or are binary (NUL), or if the gzip stream is none of text: it unpacks to more than a hundred times
        its size. Where the gzip stream is truncated, after every line that is whole; where it is damaged, after every
        line that ends 4 KB or more before the damage shows.
    """
    with open_binary(path, corpus_hint) as opened:
        for number, line in lines_of(opened, path):
            if isinstance(line, InputError):
                raise line
            if longest is not None and len(line) > longest:
                problem = f"lines of at most {longest:,} characters were wanted, found one of {len(line):,}"
                raise InputError(problem, file=path, line=number, hint="has the file line ends?")
            yield number, line


def lines_of(opened: BufferedReader, name: str | Path) -> Iterator[tuple[int, str | InputError]]:
    """
    `open_text` over bytes that are open already, which goes on behind a line that is no text.

    # Parameters

    opened : `BufferedReader`
    name : `str` or `Path`
        Of the file, for the messages.

    # Returns

    `Iterator[tuple[int, str | InputError]]`
        In place of a line that is not UTF-8, or binary, what is wrong with it.

    # Raises

    `InputError`
        If the file cannot be read, or the gzip stream is truncated, damaged or none of text.
    """
    with _unzipped(opened, name) as stream:
        for number, raw in _raw_lines(stream, name):
            try:
                yield number, decode_line(raw, name, number)
            except InputError as error:
                yield number, error


def refuse_carriage_return(text: str, *, file: str | Path, line: int) -> None:
    """
    # Raises

    `InputError`
        If a carriage return stands within the line, as in files whose lines end in nothing else.
    """
    if "\r" in text:
        hint = "old Macintosh line ends: convert them with `tr '\\r' '\\n'`"
        raise InputError("a carriage return within the line", file=file, line=line, hint=hint)


@contextmanager
def _unzipped(raw: BufferedReader, name: str | Path) -> Iterator[Iterable[bytes]]:
    if _begins_as_gzip(raw, name):
        packed = _Counted(raw)
        with gzip.GzipFile(fileobj=cast(BinaryIO, packed)) as unpacked:
            yield BufferedReader(_Bounded(unpacked, packed, name), _BUFFER)
    else:
        yield raw


class _Counted:
    """A stream whose bytes are counted as they are read."""

    def __init__(self, stream: BufferedReader) -> None:
        self._stream, self.count = stream, 0

    def read(self, size: int = -1) -> bytes:
        """As of the stream."""
        found = self._stream.read(size)
        self.count += len(found)
        return found


class _Bounded(RawIOBase):
    """What a gzip stream unpacks to; raises `InputError` where a little of it becomes more than any text does."""

    def __init__(self, unpacked: gzip.GzipFile, packed: _Counted, name: str | Path) -> None:
        self._unpacked, self._packed, self._name, self._count = unpacked, packed, name, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As of the stream; all that comes before a fault is given before the fault is raised."""
        found = self._unpacked.read1(min(len(buffer), _PIECE))
        buffer[: len(found)] = found
        self._count += len(found)
        if self._count > max(_HARMLESS, _MOST_PACKED * self._packed.count):
            problem = f"the gzip stream unpacks to more than {_MOST_PACKED} times its size, which text hardly does"
            raise InputError(problem, file=self._name, hint="if it is meant so, unpack it with gunzip")
        return len(found)


def _begins_as_gzip(raw: BufferedReader, path: str | Path) -> bool:
    try:
        return raw.peek(2)[:2] == _GZIP_MAGIC
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", file=path) from error


def open_binary(path: str | Path, corpus_hint: str | None = None) -> BufferedReader:
    """
    A file opened for reading bytes; the parameters are those of `open_text`.

    # Raises

    `InputError`
        If the file is missing, a folder or unreadable, or if no file can have this path.
    """
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise InputError("no such file", file=path, hint=missing_hint(path, corpus_hint)) from None
    except IsADirectoryError:
        raise InputError("a file was wanted, this is a folder", file=path) from None
    except OSError as error:
        raise InputError(f"the file cannot be opened: {error.strerror}", file=path) from error
    except ValueError as error:  # a NUL, or half a character
        raise InputError(f"no file can have the path {str(path)!r:.200}: {error}") from None


def missing_hint(path: str | Path, corpus_hint: str | None = None) -> str:
    """What to do about a file that is not there: below the data root it names the variable that sets it."""
    data_root = os.environ.get(DATA_VARIABLE)
    target = Path(os.path.abspath(path))
    if not data_root or not target.is_relative_to(os.path.abspath(data_root)):
        return "check the path in the configuration or on the command line"
    below = target.relative_to(os.path.abspath(data_root))
    origin = "" if corpus_hint is None else f"; {corpus_hint}"
    return f"{DATA_VARIABLE} is {data_root}: the file belongs below it at {below}{origin}"


def _raw_lines(stream: Iterable[bytes], path: str | Path) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        for number, raw in enumerate(stream, start=1):
            yield number, raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            "the gzip stream is truncated or damaged from here on",
            file=path,
            line=number + 1,
            hint="fetch or compress the file again; `gzip -t` tests it",
        ) from error
    except OSError as error:
        problem = f"reading stopped here: {error.strerror}"
        raise InputError(problem, file=path, line=number + 1) from error


def decode_line(raw: bytes, path: str | Path, number: int) -> str:
    """
    A line of a file, without its end and, in line 1, without a byte order mark.

    # Raises

    `InputError`
        With file and line, if it is no UTF-8 or holds a NUL.
    """
    if number == 1:
        raw = raw.removeprefix(_BYTE_ORDER_MARK)
        if raw.startswith(_UTF16_MARKS):
            hint = "convert it with `iconv -f utf-16 -t utf-8`"
            raise InputError("UTF-8 text was wanted, this is UTF-16", file=path, line=number, hint=hint)
    if 0 in raw:
        raise InputError("text was wanted, this is binary (a NUL byte)", file=path, line=number)
    try:
        return raw.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte {error.start + 1} of the line is 0x{raw[error.start]:02x}"
        raise InputError(
            f"UTF-8 text was wanted, {found}",
            file=path,
            line=number,
            hint="if it is Latin-1, convert it with `iconv -f latin1 -t utf-8`; else it is no text",
        ) from error
