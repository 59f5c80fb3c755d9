"""
word2vec's binary format: a line with the numbers of words (V) and of dimensions (D),
then V times a word, a blank, D float32 numbers (little-endian), and perhaps a line
feed.
"""

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elmo_tasks.errors import InputError

FLOAT = np.dtype("<f4")

_HEADER = re.compile(rb"([0-9]{1,18}) ([0-9]{1,18})[ \t]*\r?\n")
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_NUMERIC = re.compile(rb"[-0-9. ]")
_LONGEST_HEADER = 64
_LONGEST_WORD = 2**16  # in bytes
_MOST_DIMENSIONS = 2**20


class Entry(NamedTuple):
    """A word, the byte where its vector begins, and the vector, as bytes."""

    word: bytes
    offset: int
    vector: bytes


def is_binary(stream: BufferedReader, file: str | Path) -> bool:
    """
    Whether a file that begins like word2vec's holds binary numbers: the first one,
    after the header and a word, has bytes that text does not have, and few digits. Does
    not move the position. Raises `InputError` if the file cannot be read.
    """
    with _explained(file):
        start = stream.peek(2**16)
    header = _HEADER.match(start)
    if header is None:
        return False
    width = int(header[2])
    _, _, rest = start[header.end() :].partition(b" ")
    vector = rest[: FLOAT.itemsize * width]
    is_text = _is_utf8(vector) and not _NOT_TEXT.search(vector)
    has_digits = 2 * len(_NUMERIC.findall(vector)) >= len(vector)
    return width <= _MOST_DIMENSIONS and not is_text and not has_digits


def read_binary(
    stream: BufferedReader, file: str | Path, *, width: int
) -> Iterator[Entry]:
    """
    Streams the entries of an open file that `is_binary`. Raises `InputError` if its
    vectors are not of `width` dimensions, a word is too long, or the file is truncated,
    longer than its header says, or damaged.
    """
    header = stream.readline(_LONGEST_HEADER)
    count, file_width = map(int, header.split())
    if file_width != width:
        raise InputError(
            f"expected vectors of {width} numbers, got {file_width}",
            file=file,
            line=1,
            hint="set embedding_dim of the word vectors to the file's dimension",
        )
    size, offset = FLOAT.itemsize * width, len(header)
    with _explained(file):
        for number in range(1, count + 1):
            word = _read_word(stream, number, file)
            offset += len(word)
            vector = stream.read(size)
            if len(vector) < size:
                raise _cut(number, count, file)
            yield Entry(word[:-1].lstrip(b"\n"), offset, vector)
            offset += size
        if stream.read(2) not in (b"", b"\n"):
            problem = f"expected the end of the file after {count:,} vectors"
            raise InputError(problem, file=file, hint="is the header right?")


def _read_word(stream: BufferedReader, number: int, file: str | Path) -> bytes:
    """The bytes up to the next blank, and the blank."""
    pieces = b""
    while not pieces.endswith(b" "):
        ahead = stream.peek(1)
        pieces += stream.read(ahead.find(b" ") + 1 or len(ahead))
        if not ahead or len(pieces) > _LONGEST_WORD:
            problem = f"expected word {number:,} and a blank, got something else"
            raise InputError(problem, file=file, hint="is the file complete?")
    return pieces


def _cut(number: int, count: int, file: str | Path) -> InputError:
    problem = f"expected {count:,} vectors as line 1 says, got {number - 1:,}"
    return InputError(problem, file=file, hint="is the file complete?")


@contextmanager
def _explained(file: str | Path) -> Iterator[None]:
    """Replaces the errors of damaged compressed files."""
    try:
        yield
    except (OSError, EOFError, zlib.error, BadGzipFile) as error:
        raise InputError(f"cannot read the file: {error}", file=file) from error


def _is_utf8(data: bytes) -> bool:
    """Whether these bytes are UTF-8, but for a last character that is cut off."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True
