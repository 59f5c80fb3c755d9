"""
Word vectors in the text formats of GloVe and word2vec: read through, or looked up word
by word.
"""

import gzip
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.text.text_files import (
    MARK,
    decode_line,
    open_binary,
    open_text,
    raw_lines,
)
from elmo_tasks.formats.unpacking import compression
from elmo_tasks.system.files import atomic_write

VECTORS_HINT = "GloVe: https://nlp.stanford.edu/projects/glove/; any file with a word and its numbers per line works"

_HEADER = re.compile(r"([0-9]{1,18}) ([0-9]{1,18})")
_TABS = "expected blanks between numbers, got tabs: convert them with `tr '\\t' ' '`"


def read_vectors(
    file: str | Path, *, width: int, words: Collection[str] | None = None
) -> Iterator[tuple[str, np.ndarray]]:
    """
    Streams words and vectors (float32, shape [D]) from a text file, plain or gzip: a
    word, then `width` (D) numbers, separated by blanks. Words may contain blanks. A
    first line of two integers is word2vec's header. Blank lines are ignored. With
    `words`, only these are returned, and the numbers of others are not parsed.

    Raises `InputError` as `open_text` does; with the line, if it does not have `width`
    numbers, if one is not finite, or if the word is empty or begins or ends with a
    blank; if the number of vectors is not the header's.
    """
    lines = open_text(file, corpus_hint=VECTORS_HINT, keep_marks=True)
    for line, word, values in _entries(lines, width, file):
        if words is None or word in words:
            yield word, _vector(values, file, line)


def write_word_vectors(
    file: str | Path, words: Sequence[str], vectors: np.ndarray
) -> None:
    """
    Write words and their vectors [V, D] atomically in word2vec's text format, which
    is compressed if the name ends in `.gz`. Words must not contain white space.
    """
    opened: Any = gzip.open if Path(file).suffix.lower() == ".gz" else open
    with atomic_write(file) as aside, opened(aside, "wb") as out:
        out.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors.astype("<f4"), strict=True):
            numbers = " ".join([f"{value:.6g}" for value in vector])
            out.write(f"{word} {numbers}\n".encode("utf-8", "ignore"))


def width_of(file: str | Path) -> int:
    """
    The dimension of the vectors, from the header or the numbers of the first line,
    whose word must not contain blanks. Raises `InputError` as `open_text` does, and if
    there are none.
    """
    text = ""
    for _, line in open_text(file, corpus_hint=VECTORS_HINT):
        text = line.rstrip(" \t")
        if text:
            break
    header = _HEADER.fullmatch(text)
    width = text.count(" ")
    if header is not None:
        width = int(header[2])
    if not width:
        raise InputError(
            f"expected a word and its numbers, got {shown(text)}", file=file, line=1
        )
    return width


def _entries(
    lines: Iterable[tuple[int, str]], width: int, file: str | Path
) -> Iterator[tuple[int, str, str]]:
    """Line number, word, and its numbers as text."""
    count = 0
    header = None
    for number, line in lines:
        text = line.rstrip(" \t")
        if not text:
            continue
        if number == 1:
            header = _HEADER.fullmatch(text)
            if header is not None:
                if int(header[2]) != width:
                    raise _width_error(int(header[2]), width, text, file, number)
                continue
        word, values = _split(text, width, file, number)
        count += 1
        yield number, word, values
    if header is not None and count != int(header[1]):
        problem = f"expected {header[1]} vectors as line 1 says, got {count}"
        raise InputError(problem, file=file, hint="is the file complete?")
    if not count:
        raise InputError(
            f"expected lines of a word and {width} numbers, got none", file=file
        )


def _split(text: str, width: int, file: str | Path, number: int) -> tuple[str, str]:
    """
    Word and numbers. Some of GloVe's words contain blanks; but if only numbers follow
    in the word, they are too many, and if it has a whole vector, a line end is missing.
    """
    blanks = text.count(" ")
    if blanks == width:
        word, _, values = text.partition(" ")
    else:
        fields = text.rsplit(" ", width)
        word = fields[0]
        values = " ".join(fields[1:])
    later = word.split(" ")[1:]
    has_numbers_alone = bool(later) and all(map(_is_number, later))
    if blanks < width or "\t" in word or has_numbers_alone:
        raise _width_error(blanks, width, text, file, number)
    is_two = len(later) >= width and all(map(_is_number, later[: width - 1]))
    if is_two and (width > 1 or MARK in word):
        problem = (
            f"expected a line end after {width} numbers, got {later[width - 1]!r:.60}"
        )
        raise InputError(problem, file=file, line=number)
    if not word or word != word.strip(" "):
        problem = (
            f"expected a word, one blank and {width} numbers, got the word {word!r:.60}"
        )
        raise InputError(problem, file=file, line=number)
    return word, values


def _width_error(
    count: int, width: int, text: str, file: str | Path, number: int
) -> InputError:
    hint = "set embedding_dim of the word vectors to the file's dimension, or use another file"
    if "\t" in text:
        hint = _TABS
    return InputError(
        f"expected a word and {width} numbers, got {count} numbers",
        file=file,
        line=number,
        hint=hint,
    )


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _vector(values: str, file: str | Path, number: int | None) -> np.ndarray:
    fields = values.split(" ")
    if values.isascii() and "_" not in values:  # `float` reads 1_0, and other digits
        with suppress(ValueError), np.errstate(over="ignore"):
            vector = np.array([float(field) for field in fields], np.float32)  # [D]
            if np.isfinite(vector).all():
                return vector
    raise InputError(
        f"expected {len(fields)} finite numbers, got {shown(values)}",
        file=file,
        line=number,
    )


class VectorFile:
    """
    The vectors [D] of a file, of dimension `width`, looked up by word. Only the words
    and their positions are kept in memory, half a gigabyte for GloVe 840B; numbers are
    parsed when a word is looked up. If a word occurs twice, the first vector is used.
    Safe to use from several threads. Raises `InputError` as `read_vectors` does, and if
    the file is compressed.
    """

    def __init__(self, file: Path, *, width: int) -> None:
        self.file = file
        self.width = width
        self._offsets: dict[bytes, int] = {}  # the byte where the line starts
        with open_binary(file, VECTORS_HINT) as opened:
            if compression(opened):
                problem = "expected plain text, got a compressed file"
                raise InputError(problem, file=file, hint="unpack it")
            starts = array("Q")
            for number, word, _ in _entries(self._lines(opened, starts), width, file):
                self._offsets.setdefault(word.encode(), starts[number - 1])

    def __len__(self) -> int:
        return len(self._offsets)

    def __contains__(self, word: bytes) -> bool:
        return word in self._offsets

    def get(self, word: bytes) -> np.ndarray | None:
        """
        The vector of a word in UTF-8: float32, shape [D]; `None` if the file does not
        have it.
        """
        offset = self._offsets.get(word)
        if offset is None:
            return None
        with open_binary(self.file, VECTORS_HINT) as opened:
            opened.seek(offset)
            raw = opened.readline().partition(b"\r")[0]
        line = raw.decode("utf-8", "replace").rstrip(" \t\n")
        found, *numbers = line.rsplit(" ", self.width)
        if found.strip(MARK) != word.decode().strip(MARK):
            problem = f"expected the vector of {word.decode()!r}, got {shown(found)}"
            raise InputError(problem, file=self.file, hint="has the file changed?")
        return _vector(" ".join(numbers), self.file, None)

    def _lines(
        self, opened: BufferedReader, starts: "array[int]"
    ) -> Iterator[tuple[int, str]]:
        """Line numbers and lines; appends the position of each."""
        start = 0
        for number, raw in raw_lines(opened, self.file):
            starts.append(start)
            start += len(raw)
            yield number, decode_line(raw, self.file, number, keep_marks=True)
