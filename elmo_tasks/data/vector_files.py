"""Text files of word vectors as GloVe and word2vec write them, read through or looked up word by word."""

import mmap
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.data.files import open_text
from elmo_tasks.errors import InputError

VECTORS_HINT = "GloVe: https://nlp.stanford.edu/projects/glove/; any file of a word and its numbers per line will do"

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"

_REMEMBERED = 2**16
"""Words whose vectors are kept by a `VectorFile`: at 300 numbers each about 80 MB."""


def read_vectors(
    file: str | Path, *, width: int, wanted: Collection[str] | None = None
) -> Iterator[tuple[str, np.ndarray]]:
    """
    Streams a text file of word vectors, plain or gzip: a word, then `width` numbers, blanks between them. Words may
    hold blanks themselves. A first line of two whole numbers is word2vec's header.

    # Parameters

    file : `str` or `Path`
    width : `int`
        Numbers of a vector.
    wanted : `Collection[str]`, optional
        The words to give; by default all.

    # Returns

    `Iterator[tuple[str, np.ndarray]]`
        Word, and vector of float32, shape [D].

    # Raises

    `InputError`
        At its line, whatever `open_text` raises; if a line has not `width` numbers, or one is not finite; if there are
        not as many as the header speaks of. Vectors that are not wanted are looked at less closely: for their width,
        and for anything but figures.
    """
    found, announced = 0, None
    for number, line in open_text(file, corpus_hint=VECTORS_HINT):
        text = line.rstrip(" ")
        if number == 1 and (announced := _header(text, width, file)) is not None:
            continue
        word, values = _split(text, width, file, number)
        found += 1
        if wanted is None or word in wanted or "n" in values or "N" in values:
            vector = _numbers(values, width, file, number)
            if wanted is None or word in wanted:
                yield word, vector
    if announced is not None and found != announced:
        raise InputError(f"{announced} vectors were announced in line 1, found {found}", file=file, hint="is it whole?")
    if not found:
        raise InputError(f"no word vectors found: lines of a word and {width} numbers were wanted", file=file)


def width_of(file: str | Path) -> int:
    """
    Numbers of a vector, by the first line, whose word is taken to hold no blank.

    # Raises

    `InputError`
        Whatever `open_text` raises; if the file is empty.
    """
    for _, line in open_text(file, corpus_hint=VECTORS_HINT):
        fields = line.split()
        return int(fields[1]) if _is_header(fields) else len(fields) - 1
    raise InputError("word vectors were wanted, the file is empty", file=file)


def _is_header(fields: list[str]) -> bool:
    """Whether a first line is word2vec's: how many vectors, and how wide."""
    return len(fields) == 2 and all(field.isdecimal() for field in fields)


def _header(text: str, width: int, file: str | Path) -> int | None:
    """How many vectors word2vec's header speaks of; `None` where the line is none."""
    fields = text.split(" ")
    if not _is_header(fields):
        return None
    if int(fields[1]) != width:
        raise _width_error(int(fields[1]), width, file, 1)
    return int(fields[0])


def _split(text: str, width: int, file: str | Path, number: int) -> tuple[str, str]:
    """Word and numbers. Some words of GloVe hold blanks, so that a line may have more fields than it ought to."""
    blanks = text.count(" ")
    if blanks == width:
        word, _, values = text.partition(" ")
        return word, values
    fields = text.split(" ")
    surplus = fields[1 : len(fields) - width]
    if blanks < width or all(_is_number(field) for field in surplus):
        raise _width_error(blanks, width, file, number)
    return " ".join(fields[: len(fields) - width]), " ".join(fields[len(fields) - width :])


def _width_error(found: int, width: int, file: str | Path, number: int) -> InputError:
    hint = "set embedding_dim of the word vectors to the file's width, or give another file"
    return InputError(
        f"a word and {width} numbers were wanted, found {found} numbers", file=file, line=number, hint=hint
    )


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _numbers(values: str, width: int, file: str | Path, number: int) -> np.ndarray:
    fields = values.split(" ")
    try:
        with np.errstate(over="ignore"):
            vector = np.array(fields, dtype=np.float32)  # [D]
    except ValueError:
        wrong = next(field for field in fields if not _is_number(field))
        raise InputError(f"{width} numbers were wanted, found {wrong!r} among them", file=file, line=number) from None
    if not np.isfinite(vector).all():
        wrong = fields[int(np.argmin(np.isfinite(vector)))]
        raise InputError(f"{width} finite numbers were wanted, found {wrong!r} among them", file=file, line=number)
    return vector


class VectorFile:
    """
    The vectors of a plain text file, looked up by word: only the places of the words are kept, for GloVe 840B about
    half a gigabyte, and numbers are read when a word is first asked for.

    Where a word comes twice, the first counts. Copies share nothing but the file.

    # Parameters

    file : `Path`
        Not gzip.
    width : `int`
        Numbers of a vector.

    # Raises

    `InputError`
        If there is no such file; at its line, if a line has not `width` numbers; later, if one is no finite number.
    """

    def __init__(self, file: Path, *, width: int) -> None:
        self.file, self.width = file, width
        self._map: mmap.mmap | None = None
        self._known: dict[bytes, np.ndarray | None] = {}
        self._places = self._index()

    def __getstate__(self) -> dict[str, Any]:
        """What a copy begins with: the file is not open."""
        return {**vars(self), "_map": None, "_known": {}}

    def __len__(self) -> int:
        """Words of the file."""
        return len(self._places)

    def get(self, word: bytes) -> np.ndarray | None:
        """The vector of a word, UTF-8, as it is written: float32, shape [D]; `None` where the file lacks it."""
        if word not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[word] = self._read(word)
        return self._known[word]

    def _read(self, word: bytes) -> np.ndarray | None:
        place = self._places.get(word)
        if place is None:
            return None
        number, start = place
        self._map = self._map or self._mapped()
        line = self._map[start : self._end(self._map, start)].decode("utf-8", "replace").rstrip(" \r\n")
        return _numbers(" ".join(line.split(" ")[-self.width :]), self.width, self.file, number)

    @staticmethod
    def _end(mapped: mmap.mmap, start: int) -> int:
        found = mapped.find(b"\n", start)
        return len(mapped) if found < 0 else found

    def _mapped(self) -> mmap.mmap:
        try:
            with self.file.open("rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise InputError(f"the file cannot be read: {error.strerror}", file=self.file, hint=VECTORS_HINT) from None
        except ValueError:
            raise InputError(
                f"no word vectors found: lines of a word and {self.width} numbers were wanted", file=self.file
            ) from None

    def _index(self) -> dict[bytes, tuple[int, int]]:
        """Line and place of each word."""
        mapped, places = self._mapped(), dict[bytes, tuple[int, int]]()
        if mapped[:2] == _GZIP_MAGIC:
            raise InputError("plain text was wanted, this is gzip", file=self.file, hint="unpack it with gunzip")
        start = 0
        for number, line in enumerate(iter(mapped.readline, b""), start=1):
            text = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            text = text.rstrip(b"\r\n").rstrip(b" ")
            if number > 1 or _header(text.decode("utf-8", "replace"), self.width, self.file) is None:
                places.setdefault(self._word(text, number), (number, start))
            start += len(line)
        return places

    def _word(self, text: bytes, number: int) -> bytes:
        if text.count(b" ") == self.width:
            return text.partition(b" ")[0]
        word, _ = _split(text.decode("utf-8", "surrogateescape"), self.width, self.file, number)
        return word.encode("utf-8", "surrogateescape")
