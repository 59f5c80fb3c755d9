"""Word vectors looked up in their file."""

import copy
import gzip
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.data.vector_files import VectorFile, read_vectors
from elmo_tasks.errors import InputError

TEXT = "the 1 2 3\n. . . 4 5 6\nÅ 7 8 9\nthe 0 0 0\nlast -1 1e2 .5"


def vectors(tmp_path: Path, text: str = TEXT) -> VectorFile:
    (tmp_path / "vectors.txt").write_bytes(text.encode())
    return VectorFile(tmp_path / "vectors.txt", width=3)


@pytest.mark.parametrize("text", [TEXT, f"5 3\n{TEXT}", f"\ufeff{TEXT}", TEXT.replace("\n", "  \r\n")])
def test_each_word_as_reading_through_gives_it(tmp_path: Path, text: str) -> None:
    found = vectors(tmp_path, text)
    wanted: dict[str, np.ndarray] = {}
    for word, vector in read_vectors(tmp_path / "vectors.txt", width=3):
        wanted.setdefault(word, vector)
    assert len(found) == len(wanted) == 4
    for word, vector in wanted.items():
        for _ in range(2):
            assert np.array_equal(found.get(word.encode()), vector)
    assert found.get(b"The") is None


def test_copies_read_for_themselves(tmp_path: Path) -> None:
    found = vectors(tmp_path)
    found.get(b"the")
    assert np.array_equal(copy.deepcopy(found).get(b"last"), [-1, 100, 0.5])


def test_faults_are_told_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    for text, message in (
        (TEXT.replace(" 9", ""), f"{file}:3: a word and 3 numbers were wanted, found 2 numbers"),
        ("", f"{file}: no word vectors found"),
        ("2 4\n" + TEXT, f"{file}:1: a word and 3 numbers were wanted, found 4 numbers"),
        ("6 3\n" + TEXT, f"{file}: 6 vectors were announced in line 1, found 5 .is it whole"),
        ("5 3\n", f"{file}: 5 vectors were announced in line 1, found 0"),
        (TEXT.replace("Å", "\0"), f"{file}:3: text was wanted, this is binary"),
        (TEXT.replace("Å ", "Å  "), f"{file}:3: a word, one blank and 3 numbers were wanted, found the word 'Å '"),
        (TEXT.replace("8", "nan"), f"{file}:3: 3 finite numbers were wanted, found 'nan' among them"),
        (TEXT.replace("8", "-INF"), f"{file}:3: 3 finite numbers were wanted, found '-INF' among them"),
        (TEXT.replace("\n", "\r"), f"{file}:1: a carriage return within the line"),
    ):
        with pytest.raises(InputError, match=message):
            vectors(tmp_path, text)
    file.write_bytes(TEXT.encode("latin-1"))
    with pytest.raises(InputError, match=f"{file}:3: UTF-8 text was wanted, byte 1 of the line is 0xc5"):
        VectorFile(file, width=3)
    file.write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(InputError, match="plain text was wanted, this is gzip .unpack it with gunzip"):
        VectorFile(file, width=3)
    with pytest.raises(InputError, match="gone: no such file"):
        VectorFile(tmp_path / "gone", width=3)


@pytest.mark.parametrize("number", ["x", "1e99"])
def test_a_number_that_is_none_is_told_when_its_word_is_asked_for(tmp_path: Path, number: str) -> None:
    found = vectors(tmp_path, TEXT.replace("8", number))
    assert found.get(b"the") is not None
    with pytest.raises(InputError, match=f"vectors.txt:3: 3 .*numbers were wanted, found '{number}' among them"):
        found.get("Å".encode())
