"""Files of word vectors: formats, invalid files, look-up by word."""

import gzip
from pathlib import Path

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
    file.write_text("a 1 b 2\n")
    assert [word for word, _ in read_vectors(file, width=1)] == ["a 1 b"]


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
        ("the 1 2 3\ncaf\udce9 1 2 3\n", "2: expected UTF-8 text, .*iconv -c -f utf-8"),
    ],
)
def test_invalid_files(file: Path, text: str, message: str) -> None:
    file.write_text(text, errors="surrogateescape")
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


def test_a_file_that_is_replaced_while_it_is_open(file: Path) -> None:
    file.write_text("cat 1 1 1\ndog 2 2 2\n")
    vectors = VectorFile(file, width=3)
    file.write_text("elk 1 1 1\ncat 2 2 2\n")
    with pytest.raises(InputError, match="expected the vector of 'dog', got 'cat'"):
        vectors.get(b"dog")


def test_blank_lines_and_marks(file: Path) -> None:
    file.write_text("the 1 2 3\n\nof 4 5 6\n\ufeff 7 8 9\n \n")
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
    file.write_text("")
    with pytest.raises(InputError, match="v.txt: expected the vector of 'c', got ''"):
        vectors.get(b"c")
