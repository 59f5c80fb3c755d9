"""The reader of files of vectors: what it gives, and what it refuses."""

import copy
import pickle
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.elmo.extract import extract
from elmo_tasks.elmo.extraction import Extraction
from elmo_tasks.elmo.vectors import DONE, OFFSETS, SENTENCES, TOKENS
from elmo_tasks.errors import InputError
from tests.elmo.samples import random_bilm
from tests.hdf5_elsewhere import ELSEWHERE, move

TEXT = ["The harbour froze", "", "one"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    bilm = random_bilm().eval().requires_grad_(False)
    extract(Extraction(bilm=bilm, settings={"input": "text"}), list(enumerate(TEXT, start=1)), tmp_path / "out.hdf5")
    return tmp_path / "out.hdf5"


def read_all(file: Path) -> None:
    with ElmoVectors(file) as vectors:
        assert vectors.layer_names and vectors.info["format"]
        for place in range(len(vectors)):
            assert vectors[place].shape[1] == len(vectors.tokens(place)) == len(vectors.sentence(place).split())


def test_places_are_counted_as_in_a_list(file: Path) -> None:
    with ElmoVectors(file) as vectors:
        assert [array.shape[1] for array in vectors] == [3, 0, 1]
        assert np.array_equal(vectors[-1], vectors[2])
        assert [array.shape[1] for array in vectors[1:]] == [0, 1]
        assert (vectors.tokens(-3), vectors.tokens(1), vectors.sentence(-1)) == (TEXT[0].split(), [], "one")
        for index in (3, -4):
            for read in (vectors.__getitem__, vectors.tokens, vectors.sentence):
                with pytest.raises(IndexError, match=f"out.hdf5 has 3 sentences, there is no sentence {index}$"):
                    read(index)


def test_what_is_no_place_is_refused_as_by_a_list(file: Path) -> None:
    with ElmoVectors(file) as vectors:
        assert np.array_equal(vectors[np.int64(2)], vectors[2]) and vectors[True].shape[1] == 0
        for wrong in (1.5, "1", None, (0, 1)):
            with pytest.raises(
                TypeError, match=f"a sentence's place or a slice was wanted, found {re.escape(repr(wrong))}"
            ):
                vectors[wrong]  # type: ignore[call-overload]


def test_closed_vectors_say_so(file: Path) -> None:
    vectors = ElmoVectors(file)
    vectors.close()
    vectors.close()
    for read in (lambda: vectors[0], lambda: vectors.tokens(0), lambda: vectors.sentence(0), lambda: list(vectors)):
        with pytest.raises(
            InputError, match=r"out.hdf5: the vectors were closed, nothing can be read \(open them anew"
        ):
            read()
    for name in ("info", "layer_names"):
        with pytest.raises(InputError, match="the vectors were closed"):
            getattr(vectors, name)
    assert len(vectors) == 3


def test_a_file_that_is_open_in_this_process(file: Path) -> None:
    with h5py.File(file, "r") as hdf5, ElmoVectors(file) as vectors:
        assert np.array_equal(vectors[0], hdf5["0"][()])
    message = r"out.hdf5: cannot be read as HDF5: .*file locking.* \(close it first\)$"
    with h5py.File(file, "r", locking=True), pytest.raises(InputError, match=message):
        ElmoVectors(file)
    with ElmoVectors(file) as vectors, ElmoVectors(file) as other:
        assert np.array_equal(vectors[2], other[2])


def test_a_copy_opens_the_file_anew(file: Path) -> None:
    vectors = ElmoVectors(file)
    others = pickle.loads(pickle.dumps(vectors)), copy.deepcopy(vectors)
    wanted = vectors[0]
    vectors.close()
    for other in others:
        assert np.array_equal(other[0], wanted)


def test_a_file_that_is_not_finished(file: Path) -> None:
    with h5py.File(file, "r+") as hdf5:
        hdf5[DONE][0] = 1
    with pytest.raises(InputError, match=r"out.hdf5: not finished: 1 of 2 pieces are there .*it goes on"):
        ElmoVectors(file)


def test_no_size_that_a_file_claims_is_believed(file: Path) -> None:
    with h5py.File(file, "r+") as hdf5:
        del hdf5["0"], hdf5[OFFSETS], hdf5[TOKENS]
        hdf5.create_dataset("0", (3, 2**30, 2**10), np.float32, chunks=True)
        hdf5.create_dataset(TOKENS, (2**40,), h5py.string_dtype(), chunks=(2**10,))
        hdf5.create_dataset(OFFSETS, data=np.array([0, 2**40, 2**40, 2**40]))
    with ElmoVectors(file) as vectors:
        for read in (lambda: vectors[0], lambda: vectors.tokens(0)):
            with pytest.raises(InputError, match=r"out.hdf5: the file is damaged: it claims to hold [0-9,]{15,} "):
                read()


@pytest.mark.parametrize("to", ELSEWHERE)
@pytest.mark.parametrize("name", ["0", DONE, OFFSETS])
def test_values_outside_of_the_file_are_refused(file: Path, name: str, to: str) -> None:
    move(file, name, to)
    with pytest.raises(InputError, match=f"out.hdf5: expected '{name}' in the file itself, got {to} "):
        read_all(file)


@pytest.mark.parametrize("value", [np.array([1, 2]), h5py.Empty("f4"), -1, 10**9, "[", "{}", "[1]", b"\xff"], ids=repr)
@pytest.mark.parametrize("name", ["sentences", "pieces", "layers", "format"])
def test_a_damaged_attribute_is_one_error(file: Path, name: str, value: object) -> None:
    with h5py.File(file, "r+") as hdf5:
        hdf5.attrs[name] = value
    with pytest.raises(InputError, match=f"^{file}: "):
        read_all(file)


@pytest.mark.parametrize("value", [None, h5py.Empty("f4"), 7, "text", np.zeros(4), np.zeros((4, 4))], ids=repr)
@pytest.mark.parametrize("name", ["0", DONE, OFFSETS, SENTENCES, TOKENS])
def test_a_damaged_dataset_is_one_error(file: Path, name: str, value: object) -> None:
    """`None` is a group in its place."""
    with h5py.File(file, "r+") as hdf5:
        del hdf5[name]
        if value is None:
            hdf5.create_group(name)
        else:
            hdf5[name] = value
    with pytest.raises(InputError, match=f"^{file}: "):
        read_all(file)


def test_a_truncated_file(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"out.hdf5: cannot be read as HDF5: .*truncated.*\(is the copy complete\?\)"):
        ElmoVectors(file)


def test_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("The harbour froze")
    with h5py.File(tmp_path / "old", "w") as old:
        old["0"] = np.zeros((3, 2, 4))
    with h5py.File(tmp_path / "other", "w") as other:
        other["x"] = np.zeros(3)
    with h5py.File(tmp_path / "newer", "w") as newer:
        newer.attrs["format"] = "elmo_tasks vectors 2"
    for name, message in (
        ("text", "cannot be read as HDF5"),
        ("gone", "no such file of vectors"),
        ("old", "vectors without an index, as AllenNLP 0.x and bilm-tf wrote them .h5py reads it"),
        ("other", "vectors of the format 'elmo_tasks vectors 1' were wanted, found 'another HDF5 file'"),
        ("newer", "vectors of the format 'elmo_tasks vectors 1' were wanted, found 'elmo_tasks vectors 2'"),
    ):
        with pytest.raises(InputError, match=f"^{tmp_path / name}: {message}"):
            ElmoVectors(tmp_path / name)
