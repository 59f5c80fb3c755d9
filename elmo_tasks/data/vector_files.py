"""Text files of word vectors as GloVe and word2vec write them, read through or looked up word by word."""

import mmap
import re
from array import array
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.data.files import decode_line, open_binary, open_text, refuse_carriage_return
from elmo_tasks.errors import InputError

VECTORS_HINT = "GloVe: https://nlp.stanford.edu/projects/glove/; any file of a word and its numbers per line will do"

_GZIP_MAGIC = b"\x1f\x8b"
_HEADER = re.compile(r"([0-9]+) ([0-9]+)")
_MOST_DIGITS = 18
_MOST_WORDS = 1_000
_OF_NUMBERS = b" +-.0123456789Ee"
_TABS = "blanks stand before the numbers, here there are tabs: convert them with `tr '\\t' ' '`"

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
        At its line, whatever `open_text` raises; if a line has not `width` numbers, or one is not finite; if a word is
        empty, or begins or ends with a blank; if there are not as many as the header speaks of. Vectors that are not
        wanted are looked at less closely: for their width, and for `nan` and `inf`.
    """
    for number, word, values in _entries(open_text(file, corpus_hint=VECTORS_HINT), width, file):
        if wanted is None or word in wanted:
            yield word, _numbers(values, width, file, number)
        else:
            _look_at(values, width, file, number)


def _entries(lines: Iterable[tuple[int, str]], width: int, file: str | Path) -> Iterator[tuple[int, str, str]]:
    """Line number, word, and its numbers as text, of each vector of a file."""
    found, announced = 0, None
    for number, line in lines:
        text = line.rstrip(" ")
        if number == 1 and (announced := _announced(text, width, file)) is not None:
            continue
        word, values = _split(text, width, file, number)
        yield number, word, values
        found += 1
    if announced is not None and found != announced:
        raise InputError(f"{announced} vectors were announced in line 1, found {found}", file=file, hint="is it whole?")
    if not found:
        raise InputError(f"no word vectors found: lines of a word and {width} numbers were wanted", file=file)


def width_of(file: str | Path) -> int:
    """
    Numbers of a vector, by the first line, whose word is taken to hold no blank.

    # Raises

    `InputError`
        Whatever `open_text` raises; if the file is empty; if its first line is neither a header nor a word and numbers.
    """
    for _, line in open_text(file, corpus_hint=VECTORS_HINT):
        text = line.rstrip(" ")
        refuse_carriage_return(text, file=file, line=1)
        word, *numbers = text.split(" ")
        width = header[1] if (header := _header(text, file)) else len(numbers)
        wrong = next((field for field in numbers if not _is_number(field)), None)
        if word and width and wrong is None:
            return width
        found = "no number" if not width else "no word" if wrong is None else f"{wrong!r:.60} among its numbers"
        hint = _TABS if "\t" in text else "a first word that holds blanks needs a line with count and width before it"
        raise InputError(
            f"a word without blanks and its numbers were wanted, found {found}", file=file, line=1, hint=hint
        )
    raise InputError("word vectors were wanted, the file is empty", file=file)


def _header(text: str, file: str | Path) -> tuple[int, int] | None:
    """What word2vec's first line says: how many vectors, and how wide; `None` where the line is another."""
    match = _HEADER.fullmatch(text)
    if match is None:
        return None
    if max(map(len, match.groups())) > _MOST_DIGITS:
        raise InputError(f"a count and a width were wanted, found {text!r:.60}", file=file, line=1)
    return int(match[1]), int(match[2])


def _announced(text: str, width: int, file: str | Path) -> int | None:
    """How many vectors the header speaks of; `None` where the line is none."""
    header = _header(text, file)
    if header is None:
        return None
    if header[1] != width:
        raise _width_error(header[1], width, text, file, 1)
    return header[0]


def _split(text: str, width: int, file: str | Path, number: int) -> tuple[str, str]:
    """Word and numbers."""
    refuse_carriage_return(text, file=file, line=number)
    blanks = text.count(" ")
    word, values = text.split(" ", 1) if blanks == width else _with_blanks(text, blanks, width, file, number)
    if not word:
        raise _word_error(word, width, file, number)
    return word, values


def _with_blanks(text: str, blanks: int, width: int, file: str | Path, number: int) -> tuple[str, str]:
    """Word and numbers of a line with more fields than it ought to have: some words of GloVe hold blanks."""
    if not width <= blanks <= width + _MOST_WORDS:
        raise _width_error(blanks, width, text, file, number)
    fields = text.split(" ")
    first = len(fields) - width  # of the numbers
    if all(_is_number(field) for field in fields[1:first]):
        raise _width_error(blanks, width, text, file, number)
    if not (fields[0] and fields[first - 1]):
        raise _word_error(" ".join(fields[:first]), width, file, number)
    return " ".join(fields[:first]), " ".join(fields[first:])


def _word_error(word: str, width: int, file: str | Path, number: int) -> InputError:
    problem = f"a word, one blank and {width} numbers were wanted, found the word {word!r:.60}"
    return InputError(problem, file=file, line=number, hint="no blank stands before the word, and one before a number")


def _width_error(found: int, width: int, text: str, file: str | Path, number: int) -> InputError:
    hint = "set embedding_dim of the word vectors to the file's width, or give another file"
    return InputError(
        f"a word and {width} numbers were wanted, found {found} numbers",
        file=file,
        line=number,
        hint=_TABS if "\t" in text else hint,
    )


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _has_other_characters(values: str) -> bool:
    """Whether there is something in a vector's text that decimal numbers and blanks have not."""
    return bool(values.encode().translate(None, _OF_NUMBERS))


def _look_at(values: str, width: int, file: str | Path, number: int) -> None:
    """Raises `InputError` where `nan` or `inf` stands among the numbers, which it takes no time to see."""
    if "n" in values or "N" in values:
        _numbers(values, width, file, number)


def _numbers(values: str, width: int, file: str | Path, number: int) -> np.ndarray:
    fields, problem = values.split(" "), f"{width} numbers were wanted"
    try:
        with np.errstate(over="ignore"):
            vector = np.array(fields, dtype=np.float32)  # [D]
    except ValueError:
        wrong = next(field for field in fields if not _is_number(field))
    else:
        finite = np.isfinite(vector)  # [D]
        if finite.all() and not _has_other_characters(values):
            return vector
        # Python also takes 1_0, and digits of other scripts, for numbers.
        wrong, problem = (
            (next(field for field in fields if _has_other_characters(field)), problem)
            if finite.all()
            else (fields[int(np.argmin(finite))], f"{width} finite numbers were wanted")
        )
    raise InputError(f"{problem}, found {wrong!r:.60} among them", file=file, line=number)


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
        If it is gzip; whatever `read_vectors` raises of vectors that are not wanted; what else is wrong with numbers,
        when their word is first asked for.
    """

    def __init__(self, file: Path, *, width: int) -> None:
        self.file, self.width = file, width
        self._map: mmap.mmap | None = None
        self._known: dict[bytes, np.ndarray | None] = {}
        self._starts = array("Q")  # of each line
        self._places: dict[bytes, int] = {}  # line of each word
        for number, word, values in _entries(self._lines(), width, file):
            _look_at(values, width, file, number)
            self._places.setdefault(word.encode(), number)

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
        number = self._places.get(word)
        if number is None:
            return None
        self._map = self._map or self._mapped()
        start = self._starts[number - 1]
        line = self._map[start : self._end(self._map, start)].decode("utf-8", "replace").rstrip(" \r\n")
        return _numbers(" ".join(line.split(" ")[-self.width :]), self.width, self.file, number)

    @staticmethod
    def _end(mapped: mmap.mmap, start: int) -> int:
        found = mapped.find(b"\n", start)
        return len(mapped) if found < 0 else found

    def _mapped(self) -> mmap.mmap:
        with open_binary(self.file, VECTORS_HINT) as file:
            try:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except OSError as error:
                raise InputError(f"the file cannot be read: {error.strerror}", file=self.file) from None
            except ValueError:
                raise InputError(
                    f"no word vectors found: lines of a word and {self.width} numbers were wanted", file=self.file
                ) from None

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Numbers and texts of the lines; notes where each begins."""
        mapped, start = self._mapped(), 0
        if mapped[:2] == _GZIP_MAGIC:
            raise InputError("plain text was wanted, this is gzip", file=self.file, hint="unpack it with gunzip")
        for number, line in enumerate(iter(mapped.readline, b""), start=1):
            self._starts.append(start)
            start += len(line)
            yield number, decode_line(line, self.file, number)
