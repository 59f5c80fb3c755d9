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
FORMATS = {
    "plain": TEXT,
    "header": f"5 3\n{TEXT}",
    "byte order mark": f"\ufeff{TEXT}",
    "trailing blanks": TEXT.replace("\n", "  \r\n"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "v.txt"


@pytest.mark.parametrize("text", FORMATS.values(), ids=FORMATS)
def test_formats_give_the_same_vectors_read_through_and_looked_up(
    file: Path, text: str
) -> None:
    file.write_bytes(text.encode())
    read = list(read_vectors(file, width=3))
    assert [word for word, _ in read] == ["the", ". . .", "Å", "the", "last"]
    assert [vector.tolist() for _, vector in read[-2:]] == [[0, 0, 0], [-1, 100, 0.5]]
    vectors = VectorFile(file, width=3)
    assert len(vectors) == 4
    for word, vector in reversed(read):
        if word != "the":
            assert np.array_equal(vectors.get(word.encode()), vector)
    for _ in range(2):
        assert np.array_equal(vectors.get(b"the"), [1, 2, 3])
    assert vectors.get(b"The") is None
    file.write_bytes(gzip.compress(text.encode()))
    assert all(
        np.array_equal(a[1], b[1])
        for a, b in zip(read_vectors(file, width=3), read, strict=True)
    )


def test_words_with_blanks_or_digits(file: Path) -> None:
    file.write_text(
        "1999 4 5 6\nat name@domain 7 8 9\nnan 1 1 1\n1 \u00a03/4 2 2 2\n\u00a0 3 3 3 \n"
    )
    found = {word: vector.tolist() for word, vector in read_vectors(file, width=3)}
    plain = {"1999": [4, 5, 6], "at name@domain": [7, 8, 9], "nan": [1, 1, 1]}
    assert found == {**plain, "1 \u00a03/4": [2, 2, 2], "\u00a0": [3, 3, 3]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 2 3\nferry 1 2\n", r"2: expected a word and 3 numbers, got 2"),
        ("2 300\nthe 1 2 3\n", r"1: expected a word and 3 numbers, got 300"),
        ("", " expected lines of a word and 3 numbers, got none"),
        ("3 3\nthe 1 2 3\nof 4 5 6\n", r" expected 3 vectors as line 1 says, got 2"),
        (
            "the\t1\t2\t3\n",
            r"1: .* got 0 numbers .expected blanks between numbers, got tabs",
        ),
    ],
)
def test_invalid_files(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    for read in (
        lambda: list(read_vectors(file, width=3, words=())),
        lambda: VectorFile(file, width=3),
    ):
        with pytest.raises(InputError, match=f"v.txt:{message}"):
            read()


@pytest.mark.parametrize("number", ["nan", "-INF", "1e50", "x", "x" * 5000])
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
    file.write_bytes(content)
    assert width_of(file) == width
    found = dict(read_vectors(file, width=width))
    looked_up = VectorFile(file, width=width)
    assert list(found) == WORDS and len(looked_up) == len(WORDS)
    for word, vector in zip(WORDS, vectors, strict=True):
        assert np.array_equal(found[word], vector)
        assert np.array_equal(looked_up.get(word.encode()), vector)
    assert list(dict(read_vectors(file, width=width, words={"of"}))) == ["of"]
    file.write_bytes(gzip.compress(content))
    assert list(dict(read_vectors(file, width=width))) == WORDS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-3], "expected 3 vectors as line 1 says, got 2"),
        (lambda data: data + b"of 1", "expected the end of the file after 3 vectors"),
        (lambda data: data.replace(b"3 4", b"3 5", 1), "1: expected vectors of 4"),
        (lambda data: data.replace(b"b ", b"\xe9 ", 1), "expected word 2 in UTF-8"),
        (
            lambda data: data.replace(b"b ", b" ", 1),
            "expected word 2 in UTF-8, got b''",
        ),
        (
            lambda data: data.replace(b"\0\0\x80?", b"\0\0\xc0\x7f", 1),
            "expected 4 finite numbers for word 1",
        ),
        (lambda data: data.replace(b" ", b"_"), "expected"),
        (lambda data: data[:12], "expected 3 vectors as line 1 says, got 0"),
    ],
)
def test_damaged_binary_files(file: Path, change: Any, message: str) -> None:
    write_word_vectors(file.with_suffix(".bin"), ["a", "b", "c"], np.ones((3, 4)))
    file.write_bytes(change(file.with_suffix(".bin").read_bytes()))
    with pytest.raises(InputError, match=f"v.txt:.*{message}"):
        list(read_vectors(file, width=4))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 2 3of 4 5 6\n", "1: expected a line end after 3 numbers, got '3of'"),
        ("the 1 2 3\ufeffof 4 5 6\n", "1: expected a line end after 3 numbers"),
        ("of 1 2 3\nthe\t0 1 2 3\n", "2: expected a word and 3 numbers.*got tabs"),
        ("the 1 2 1_0\n", "1: expected 3 finite numbers"),
        ("the 1 2 \u0663\n", "1: expected 3 finite numbers"),
        ("2 3\nthe 1 \0 3\nof 1 2 3\n", "2: expected text, got binary data"),
    ],
)
def test_lines_that_are_no_vectors(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(InputError, match=f"v.txt:{message}"):
        list(read_vectors(file, width=3))


def test_blank_lines_and_marks(file: Path) -> None:
    file.write_text("the 1 2 3\n\n\ufeffof 4 5 6\n\ufeff 7 8 9\n \n")
    found = [(word, vector.tolist()) for word, vector in read_vectors(file, width=3)]
    assert found == [("the", [1, 2, 3]), ("of", [4, 5, 6]), ("\ufeff", [7, 8, 9])]
    assert len(VectorFile(file, width=3)) == 3


def test_other_files_are_named(file: Path) -> None:
    for content, kind in (
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", "a model of fastText"),
        (b"BZh91AY&SY\x1b\x03", "a bzip2 file"),
        (b"PK\x03\x04\x14\0", "a ZIP file"),
    ):
        file.write_bytes(content)
        for read in (lambda: width_of(file), lambda: VectorFile(file, width=3)):
            with pytest.raises(InputError, match=f"1: expected UTF-8 text, got {kind}"):
                read()


def test_look_up_needs_a_plain_file(file: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        VectorFile(file, width=3)
    file.write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(InputError, match="expected plain text, got a compressed file"):
        VectorFile(file, width=3)
