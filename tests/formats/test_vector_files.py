"""Files of word vectors: formats, invalid files, look-up by word."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.vector_files import VectorFile, read_vectors

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


def test_look_up_needs_a_plain_file(file: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        VectorFile(file, width=3)
    file.write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(InputError, match="expected plain text, got a compressed file"):
        VectorFile(file, width=3)
