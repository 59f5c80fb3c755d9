"""Files of word vectors: formats, invalid files, look-up by word."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.vector_files import (
    VectorFile,
    read_vectors,
    width_of,
    write_word_vectors,
)

TEXT = "the 1 2 3\n. . . 4 5 6\nÅ 7 8 9\nthe 0 0 0\nlast -1 1e2 .5"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "v.txt"


@pytest.mark.parametrize("header", ["", "5 3\n", "\ufeff5 3 \r\n"])
def test_vectors_are_the_same_read_through_and_looked_up(
    header: str, file: Path
) -> None:
    file.write_bytes(f"{header}{TEXT}".encode())
    read = list(read_vectors(file, width=3))
    assert [word for word, _ in read] == ["the", ". . .", "Å", "the", "last"]
    assert [vector.tolist() for _, vector in read[-2:]] == [[0, 0, 0], [-1, 100, 0.5]]
    vectors = VectorFile(file, width=3)
    assert len(vectors) == 4 and vectors.get(b"The") is None
    for word, vector in (*read[:3], read[4]):
        for _ in range(2):
            assert np.array_equal(vectors.get(word.encode()), vector)


def test_words_with_blanks_or_digits(file: Path) -> None:
    file.write_text(
        "1999 4 5 6\nat name@domain 7 8 9\nnan 1 1 1\n1 \u00a03/4 2 2 2\n"
        "\u00a0 3 3 3 \na b 1 2 3 c 4 5 6\n"
    )
    found = {word: vector.tolist() for word, vector in read_vectors(file, width=3)}
    plain = {"1999": [4, 5, 6], "at name@domain": [7, 8, 9], "nan": [1, 1, 1]}
    odd = {"1 \u00a03/4": [2, 2, 2], "\u00a0": [3, 3, 3], "a b 1 2 3 c": [4, 5, 6]}
    assert found == {**plain, **odd}
    assert words_in(file, b"a 1 b 2\n", width=1) == ["a 1 b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", " expected lines of a word and 3 numbers, got none"),
        ("1\n", "1: expected a word and 3 numbers, got 0 numbers"),
        ("a 1\n", "1: expected a word and 3 numbers, got 1 numbers"),
        ("the 1 2 3\nferry 1 2\n", "2: expected a word and 3 numbers, got 2"),
        ("a 1 2 3 4\n", "1: expected a word and 3 numbers, got 4 numbers .set embed"),
        ("2 300\nthe 1 2 3\n", "1: expected a word and 3 numbers, got 300"),
        ("4 3\nthe 1 2 3\n", " expected 4 vectors as line 1 says, got 1 .is the file"),
        ("0 3\nthe 1 2 3\n", " expected 0 vectors as line 1 says, got 1 .is the file"),
        ("the\t1\t2\t3\n", "1: .* got 0 numbers .expected blanks between .*got tabs"),
        ("of 1 2 3\nthe\t0 1 2 3\n", "2: expected a word and 3 numbers.*got tabs"),
        ("the 1 2 3of 4 5 6\n", "1: expected a line end after 3 numbers, got '3of'"),
        ("the 1 2 3\ufeffof 4 5 6\n", "1: expected a line end after 3 numbers"),
        ("a 1 2 3 b 4 5 6\n", "1: expected a line end after 3 numbers, got '3'"),
        (" a 1 2 3\n", "1: expected a word, one blank and 3 .*, got the word ' a'"),
        (" 1 2 3\n", "1: expected a word, one blank and 3 numbers, got the word ''"),
        ("a  1 2 3\n", "1: expected a word, one blank and 3 .*, got the word 'a '"),
        ("2 3\nthe 1 \0 3\nof 1 2 3\n", "2: expected text, got binary data"),
    ],
)
def test_invalid_files(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(InputError, match=f"v.txt:{message}"):
        list(read_vectors(file, width=3, words=()))
    with pytest.raises(InputError, match=f"v.txt:{message}"):
        VectorFile(file, width=3)


@pytest.mark.parametrize("number", ["nan", "-INF", "1e50", "1_0", "\u0663", "x" * 5000])
def test_invalid_numbers(file: Path, number: str) -> None:
    file.write_text(f"the 1 2 3\nmay 1 {number} 3\n")
    with pytest.raises(
        InputError, match=r"v.txt:2: expected 3 finite numbers, got '"
    ) as error:
        list(read_vectors(file, width=3))
    assert len(str(error.value)) < 300
    vectors = VectorFile(file, width=3)
    assert vectors.get(b"the") is not None
    with pytest.raises(InputError, match=r"v.txt: expected 3 finite numbers, got '"):
        vectors.get(b"may")


WORDS = ["the", "of", "\ufeff", "\ufeffthe", "Å", "10\u00a0000", "#"]


@pytest.mark.parametrize("width", [1, 2, 3, 50, 300])
@pytest.mark.parametrize("line_feeds", [True, False])
def test_binary_files(file: Path, width: int, line_feeds: bool) -> None:
    vectors = np.random.default_rng(1).normal(size=(len(WORDS), width))
    vectors = vectors.astype(np.float32)
    vectors[0] = 1  # its bytes are no digits, as most others'
    write_word_vectors(file.with_suffix(".bin"), WORDS, vectors)
    content = file.with_suffix(".bin").read_bytes()
    if not line_feeds:  # as gensim writes it
        content = f"{len(WORDS)} {width}\n".encode()
        for word, vector in zip(WORDS, vectors, strict=True):
            content += word.encode() + b" " + vector.tobytes()
    assert words_in(file, gzip.compress(content), width) == WORDS
    file.write_bytes(content)
    assert width_of(file) == width
    looked_up = VectorFile(file, width=width)
    assert len(looked_up) == len(WORDS)
    found = list(read_vectors(file, width=width))
    for (read, vector), word, expected in zip(found, WORDS, vectors, strict=True):
        assert read == word and np.array_equal(vector, expected)
        assert np.array_equal(looked_up.get(word.encode()), expected)
    assert list(dict(read_vectors(file, width=width, words={"of"}))) == ["of"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-3], " expected 3 vectors as line 1 says, got 2"),
        (lambda data: data[:12], " expected 3 vectors as line 1 says, got 0"),
        (lambda data: data.replace(b"3 4", b"3 5", 1), "1: expected vectors of 4"),
        (lambda data: data.replace(b" ", b"_"), ".*expected"),
    ],
)
def test_damaged_binary_files(file: Path, change: Any, message: str) -> None:
    write_word_vectors(file.with_suffix(".bin"), ["a", "b", "c"], np.ones((3, 4)))
    file.write_bytes(change(file.with_suffix(".bin").read_bytes()))
    with pytest.raises(InputError, match=f"v.txt:{message}"):
        list(read_vectors(file, width=4))


def test_blank_lines_and_marks(file: Path) -> None:
    file.write_text("the 1 2 3\n\n\ufeffof 4 5 6\n\ufeff 7 8 9\n \n")
    found = [(word, vector.tolist()) for word, vector in read_vectors(file, width=3)]
    assert found == [("the", [1, 2, 3]), ("of", [4, 5, 6]), ("\ufeff", [7, 8, 9])]
    assert len(VectorFile(file, width=3)) == 3


def test_written_text(file: Path) -> None:
    vectors = np.array([[1, -0.5], [1e-7, 123456.7]])
    write_word_vectors(file, ["a", "é"], vectors)
    assert file.read_text() == "2 2\na 1 -0.5\né 1e-07 123457\n"
    packed = file.with_suffix(".gz")
    write_word_vectors(packed, ["a", "é"], vectors)
    assert gzip.decompress(packed.read_bytes()) == file.read_bytes()
    for words in (["a"], ["a", "b", "c"]):
        with pytest.raises(ValueError, match="zip"):
            write_word_vectors(file, words, vectors)
    assert sorted(path.name for path in file.parent.iterdir()) == ["v.gz", "v.txt"]
    assert width_of(file) == width_of(packed) == 2


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("a 1 2 3\n", 3),
        ("\n \na 1  \nb 1 2\n", 1),
        ("400000 300\n", 300),
        (f"{'1' * 18} 5\n", 5),
        (f"{'1' * 19} 5\n", 1),
        ("1 2 3\n", 2),
    ],
)
def test_the_width_of_a_file(text: str, width: int, file: Path) -> None:
    file.write_text(text)
    assert width_of(file) == width


@pytest.mark.parametrize("text", ["", " \n", "word\n", "a\tb\n", "3 0\n"])
def test_files_without_a_width(text: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(
        InputError, match="v.txt:1: expected a word and its numbers, got"
    ):
        width_of(file)


def test_numbers_of_other_words_are_not_read(file: Path) -> None:
    file.write_text("a 1 x\nb 1 2\nc 3 4\n")
    found = dict(read_vectors(file, width=2, words={"b", "z"}))
    assert list(found) == ["b"] and found["b"].dtype == np.float32
    vectors = VectorFile(file, width=2)
    assert (b"a" in vectors, b"z" in vectors, len(vectors)) == (True, False, 3)
    assert vectors.get(b"z") is None
    first = vectors.get(b"b")
    file.write_text("")
    assert vectors.get(b"b") is first  # which is remembered
    with pytest.raises(InputError, match="v.txt: expected 1 finite numbers, got ''"):
        vectors.get(b"c")


def binary(word: bytes = b"a", width: int = 3, *, header: bytes | None = None) -> bytes:
    numbers = np.full(width, np.pi, "<f4").tobytes()
    return (header or b"1 %d\n" % width) + word + b" " + numbers


def words_in(file: Path, content: bytes, width: int = 3) -> list[str]:
    file.write_bytes(content)
    return [word for word, _ in read_vectors(file, width=width)]


@pytest.mark.parametrize("header", [b"1 3\n", b"1 3 \t\n", b"1 3\r\n", b"01 03\n"])
def test_headers_of_binary_files(header: bytes, file: Path) -> None:
    assert words_in(file, binary(header=header)) == ["a"]
    vectors = VectorFile(file, width=3)
    assert vectors.get(b"a") == pytest.approx([np.pi] * 3)


@pytest.mark.parametrize("number", [b"\xc1\xc1\xc1\xc1", b"\0\0\0\x40"])
def test_bytes_that_are_no_text(number: bytes, file: Path) -> None:
    """They are no UTF-8, or have control characters; either is enough."""
    assert words_in(file, b"1 3\na " + number * 3) == ["a"]


def test_a_word_with_blanks_is_text(file: Path) -> None:
    """Of which a binary first vector would end within a letter."""
    assert words_in(file, "1 3\n日 日本語 日本 1 2 3\n".encode()) == ["日 日本語 日本"]


def test_empty_words_in_binary_files(file: Path) -> None:
    start = binary(header=b"2 3\n")
    file.write_bytes(start + binary(b"").partition(b"\n")[2])
    for read in (
        lambda: list(read_vectors(file, width=3)),
        lambda: VectorFile(file, width=3),
    ):
        with pytest.raises(InputError, match="v.txt: expected word 2, got an empty"):
            read()


@pytest.mark.parametrize("broken", [b"caf\xe9", b"\xed\xb2\x80", b"a\xff \xe2\x80"])
@pytest.mark.parametrize("is_binary", [False, True])
def test_words_that_are_not_utf_8_are_left_out(
    broken: bytes, is_binary: bool, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = "that of line 2"
    content = "é 1 2 3\n".encode() + broken + b" 4 5 6\n\xef\xbf\xbd 7 8 9\n"
    if is_binary:
        broken, place = broken.replace(b" ", b"_"), "word 2"
        content = b"3 3\n"
        for word in ("é".encode(), broken, b"\xef\xbf\xbd"):
            content += binary(word).partition(b"\n")[2]
    file.write_bytes(content)
    words = [word for word, _ in read_vectors(file, width=3)]
    assert words == ["é", "\ufffd"]
    vectors = VectorFile(file, width=3)
    assert len(vectors) == 2 and vectors.get(b"\xef\xbf\xbd") is not None
    text = f"{file}: 1 of 3 words are not UTF-8, such as {place}, and are left out"
    assert [record.getMessage() for record in caplog.records] == [text] * 2


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_ends_of_binary_files(end: bytes, file: Path) -> None:
    assert words_in(file, binary() + end) == ["a"]
    for more in (b"\n\n", b" ", b"x\n"):
        problem = (
            "v.txt: expected the end of the file after 1 vectors .is the header ri"
        )
        with pytest.raises(InputError, match=problem):
            words_in(file, binary() + more)


def test_the_longest_word_of_a_binary_file(file: Path) -> None:
    """64 KB with the blank after it."""
    start = binary(header=b"2 3\n")
    word = b"x" * (2**16 - 1)
    found = words_in(file, start + binary(word).partition(b"\n")[2])
    assert found == ["a", word.decode()]
    problem = (
        "v.txt: expected word 2 and a blank, got something else .is the file compl"
    )
    for rest in (b"x" * 2**16 + b" " + bytes(12), b"x" * 2**20, b"b", b""):
        with pytest.raises(InputError, match=problem):
            words_in(file, start + rest)


def test_vectors_in_binary_files_that_are_not_finite(file: Path) -> None:
    start = binary(header=b"3 3\n")
    for name, number in ((b"b ", np.nan), (b"c ", np.inf)):
        start += name + np.array([1, number, 2], "<f4").tobytes()
    with pytest.raises(InputError, match="v.txt: expected 3 finite numbers for word 2"):
        words_in(file, start)
    vectors = VectorFile(file, width=3)
    assert vectors.get(b"a") is not None
    for word in (b"b", b"c"):
        with pytest.raises(InputError, match="v.txt: expected 3 finite numbers, got"):
            vectors.get(word)


@pytest.mark.parametrize("line", ["a 1 2 3", "a 0.5 -1 2", "é 1 2 3"])
def test_text_is_not_taken_for_binary(line: str, file: Path) -> None:
    assert len(words_in(file, f"1 3\n{line}\n".encode())) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"1 3\n\xe9 1 2 3\n",
        b"1 3\na x\n",
        b"1 2000000\na " + np.full(20, np.pi, "<f4").tobytes(),
    ],
)
def test_neither_text_nor_binary(content: bytes, file: Path) -> None:
    with pytest.raises(InputError, match="v.txt:"):
        words_in(file, content)


def test_damaged_compressed_binary_files(file: Path) -> None:
    file.write_bytes(gzip.compress(binary(width=9000))[:-12])
    with pytest.raises(InputError, match="v.txt: cannot read the file: "):
        list(read_vectors(file, width=9000))
