"""Word vectors in text files, in the formats of GloVe and word2vec: read through, or looked up word by word."""

import gzip
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np

from elmo_tasks.errors import InputError, shown
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.text_files import decode_line, open_binary, open_text, raw_lines
from elmo_tasks.formats.unpacking import compression

VECTORS_HINT = "GloVe: https://nlp.stanford.edu/projects/glove/; any file with a word and its numbers per line works"

_LATER_FIELD = re.compile("(?<= )[^ ]*")
_HEADER = re.compile(r"([0-9]{1,18}) ([0-9]{1,18})")
_TABS = "expected blanks between numbers, got tabs: convert them with `tr '\\t' ' '`"
_CACHED = (
    2**16
)  # words whose vectors a `VectorFile` keeps in memory: about 80 MB at 300 dimensions


def read_vectors(
    file: str | Path, *, width: int, words: Collection[str] | None = None
) -> Iterator[tuple[str, np.ndarray]]:
    """
    Streams words and vectors (float32, shape [D]) from a text file, plain or gzip: a word, then `width` (D) numbers,
    separated by blanks. Words may contain blanks. A first line of two integers is word2vec's header. With `words`, only
    these are returned, and the numbers of others are not parsed.

    Raises `InputError` as `open_text` does; with the line, if it does not have `width` numbers, if one is not finite,
    or if the word is empty or begins or ends with a blank; if the number of vectors is not the header's.
    """
    for number, word, values in _entries(
        open_text(file, corpus_hint=VECTORS_HINT), width, file
    ):
        if words is None or word in words:
            yield word, _vector(values, file, number)


def write_word_vectors(
    file: str | Path, words: Sequence[str], vectors: np.ndarray
) -> None:
    """
    Write words and their vectors [V, D] atomically in word2vec's format: as text, which is compressed if the name ends
    in `.gz`, or binary if it ends in `.bin`. Words must not contain white space.
    """
    name = str(file)
    with (
        atomic_write(file) as aside,
        gzip.open(aside, "wb") if name.endswith(".gz") else aside.open("wb") as out,
    ):
        out.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for word, vector in zip(words, vectors.astype("<f4"), strict=True):
            text = " ".join(f"{value:.6g}" for value in vector)
            values = vector.tobytes() if name.endswith(".bin") else text.encode()
            out.write(word.encode("utf-8", "ignore") + b" " + values + b"\n")


def width_of(file: str | Path) -> int:
    """
    The dimension of the vectors, from the header or the numbers of the first line, whose word must not contain blanks.
    Raises `InputError` as `open_text` does, and if there are none.
    """
    _, line = next(open_text(file, corpus_hint=VECTORS_HINT), (1, ""))
    text = line.rstrip(" ")
    header = _HEADER.fullmatch(text)
    width = int(header[2]) if header else text.count(" ")
    if not width:
        raise InputError(
            f"expected a word and its numbers, got {shown(text)}", file=file, line=1
        )
    return width


def _entries(
    lines: Iterable[tuple[int, str]], width: int, file: str | Path
) -> Iterator[tuple[int, str, str]]:
    """Line number, word, and its numbers as text."""
    found, header = 0, None
    for number, line in lines:
        text = line.rstrip(" ")
        if number == 1 and (header := _HEADER.fullmatch(text)):
            if int(header[2]) != width:
                raise _width_error(int(header[2]), width, text, file, number)
            continue
        word, values = _split(text, width, file, number)
        yield number, word, values
        found += 1
    if header and found != int(header[1]):
        problem = f"expected {header[1]} vectors as line 1 says, got {found}"
        raise InputError(problem, file=file, hint="is the file complete?")
    if not found:
        raise InputError(
            f"expected lines of a word and {width} numbers, got none", file=file
        )


def _split(text: str, width: int, file: str | Path, number: int) -> tuple[str, str]:
    """Word and numbers. Some of GloVe's words contain blanks; a number there is one too many."""
    blanks = text.count(" ")
    word, *values = text.split(" ", 1) if blanks == width else text.rsplit(" ", width)
    if blanks < width or (
        blanks > width
        and all(_is_number(field[0]) for field in _LATER_FIELD.finditer(word))
    ):
        raise _width_error(blanks, width, text, file, number)
    if not word or word != word.strip(" "):
        problem = (
            f"expected a word, one blank and {width} numbers, got the word {word!r:.60}"
        )
        raise InputError(problem, file=file, line=number)
    return word, " ".join(values)


def _width_error(
    found: int, width: int, text: str, file: str | Path, number: int
) -> InputError:
    hint = "set embedding_dim of the word vectors to the file's dimension, or use another file"
    hint = _TABS if "\t" in text else hint
    return InputError(
        f"expected a word and {width} numbers, got {found} numbers",
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
    The vectors [D] of a plain text file, of dimension `width`, looked up by word. Only the words and their positions
    are kept in memory, half a gigabyte for GloVe 840B; numbers are parsed when a word is looked up. If a word occurs
    twice, the first vector is used. Safe to use from several threads. Raises `InputError` as `read_vectors` does, and
    if the file is compressed.
    """

    def __init__(self, file: Path, *, width: int) -> None:
        self.file, self.width = file, width
        self._read = lru_cache(_CACHED)(self._read_at)
        self._places: dict[bytes, int] = {}  # the byte where the word's line starts
        starts = array("Q")
        for number, word, _ in _entries(self._lines(starts), width, file):
            self._places.setdefault(word.encode(), starts[number - 1])

    def __len__(self) -> int:
        return len(self._places)

    def get(self, word: bytes) -> np.ndarray | None:
        """The vector of a word in UTF-8: float32, shape [D]; `None` if the file does not have it."""
        place = self._places.get(word)
        return None if place is None else self._read(place)

    def _read_at(self, place: int) -> np.ndarray:
        with open_binary(self.file, VECTORS_HINT) as opened:
            opened.seek(place)
            line = opened.readline().decode("utf-8", "replace").rstrip(" \r\n")
        return _vector(" ".join(line.rsplit(" ", self.width)[1:]), self.file, None)

    def _lines(self, starts: "array[int]") -> Iterator[tuple[int, str]]:
        """Line numbers and lines; appends the position of each."""
        start = 0
        with open_binary(self.file, VECTORS_HINT) as opened:
            if compression(opened):
                raise InputError(
                    "expected plain text, got a compressed file",
                    file=self.file,
                    hint="unpack it",
                )
            for number, raw in raw_lines(opened, self.file):
                starts.append(start)
                start += len(raw)
                yield number, decode_line(raw, self.file, number)
