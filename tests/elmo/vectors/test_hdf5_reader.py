"""Reading files of vectors: sequence behaviour, and damaged or foreign files."""

import copy
import pickle
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from elmo_tasks.elmo import ElmoVectors
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.vectors.hdf5_reader import SENTENCES, TOKENS
from elmo_tasks.elmo.vectors.hdf5_writer import write_vectors
from elmo_tasks.errors import InputError
from tests.elmo.samples import random_bilm
from tests.hdf5_elsewhere import move

TEXT = ["The harbour froze", "", "one"]


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("vectors") / "out.hdf5"
    write_vectors(
        VectorModel(layers=Layers(random_bilm())),
        list(enumerate(TEXT, start=1)),
        file,
        settings={"input": "text"},
    )
    return file.read_bytes()


@pytest.fixture
def file(content: bytes, tmp_path: Path) -> Path:
    (tmp_path / "out.hdf5").write_bytes(content)
    return tmp_path / "out.hdf5"


def read_all(file: Path) -> None:
    with ElmoVectors(file) as vectors:
        assert vectors.info["format"]
        for place in range(len(vectors)):
            assert (
                vectors[place].shape[1]
                == len(vectors.tokens(place))
                == len(vectors.sentence(place).split())
            )


def test_indexing_is_that_of_a_list(file: Path) -> None:
    with (
        ElmoVectors(file) as vectors,
        ElmoVectors(file) as other,
        h5py.File(file, "r") as hdf5,
    ):
        assert [array.shape[1] for array in vectors] == [3, 0, 1]
        assert np.array_equal(vectors[-1], other[np.int64(2)]) and np.array_equal(
            vectors[2], hdf5["2"][()]
        )
        assert [array.shape[1] for array in vectors[1:]] == [0, 1]
        assert (vectors.tokens(-3), vectors.tokens(1), vectors.sentence(-1)) == (
            TEXT[0].split(),
            [],
            "one",
        )
        wrong: tuple[tuple[Any, type[Exception]], ...] = (
            (3, IndexError),
            (-4, IndexError),
            ("1", TypeError),
        )
        for index, error in wrong:
            for read in (vectors.__getitem__, vectors.tokens, vectors.sentence):
                with pytest.raises(error):
                    read(index)


def test_copies_open_the_file_again_and_closed_vectors_are_an_error(file: Path) -> None:
    vectors = ElmoVectors(file)
    others, expected = (
        (pickle.loads(pickle.dumps(vectors)), copy.deepcopy(vectors)),
        vectors[0],
    )
    vectors.close()
    assert (
        all(np.array_equal(other[0], expected) for other in others)
        and len(vectors) == 3
    )
    for read in (
        lambda: vectors[0],
        lambda: vectors.tokens(0),
        lambda: vectors.sentence(0),
    ):
        with pytest.raises(
            InputError, match="out.hdf5: the file of vectors has been closed"
        ):
            read()


def test_external_values_are_rejected(file: Path) -> None:
    move(file, "0", "a virtual dataset")
    with pytest.raises(
        InputError, match="out.hdf5: dataset '0': expected its values in the file"
    ):
        read_all(file)


@pytest.mark.parametrize("name", ["sentences", SENTENCES, TOKENS])
def test_a_damaged_value_is_one_error(file: Path, name: str) -> None:
    with h5py.File(file, "r+") as hdf5:
        values = hdf5.attrs if name in hdf5.attrs else hdf5
        del values[name]
        values[name] = np.zeros((4, 4))
    with pytest.raises(InputError, match=f"^{file}: "):
        read_all(file)


def test_truncated_and_foreign_files(file: Path, tmp_path: Path) -> None:
    (tmp_path / "truncated").write_bytes(file.read_bytes()[:-1])
    with h5py.File(tmp_path / "old", "w") as old:
        old["0"] = np.zeros((3, 2, 4))
    for name, message in (
        (
            "truncated",
            r"cannot be read as HDF5: .*truncated.*\(is the copy complete\?\)",
        ),
        ("gone", "no such file"),
        ("old", "expected the format 'elmo_tasks vectors 1', got None .h5py reads"),
    ):
        with pytest.raises(InputError, match=f"^{tmp_path / name}: {message}"):
            ElmoVectors(tmp_path / name)
