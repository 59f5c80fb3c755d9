"""HDF5 files: rounding, links, and a full disk."""

import io
import zlib
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.hdf5 import (
    own_dataset,
    round_mantissa,
    unbounded,
    write_hdf5,
)
from tests.disk import file_size_limit
from tests.memory import grown


@pytest.mark.parametrize("bits", [0, 10, 22])
def test_rounding_to_nearest(bits: int) -> None:
    exact = np.random.default_rng(1).standard_normal(20_000).astype(np.float32)
    rounded = round_mantissa(exact, bits)
    relative = np.abs(rounded - exact) / np.abs(exact)
    assert relative.max() <= 2.0 ** -(bits + 1)
    assert relative.max() > 2.0 ** -(bits + 1) * 0.4
    assert np.array_equal(round_mantissa(rounded, bits), rounded)
    assert not (rounded.view(np.uint32) & ((1 << (23 - bits)) - 1)).any()


def test_linked_group_is_rejected(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "file", "w") as file:
        file["own/array"] = np.zeros(2)
        file["linked"] = h5py.SoftLink("/own")
        assert own_dataset(file, "own/array").shape == (2,)
        with pytest.raises(
            InputError,
            match="file: expected 'linked/array' in the file itself, got a link to it ",
        ):
            own_dataset(file, "linked/array")


def test_failed_write_leaves_the_old_file_and_no_view_of_the_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.12 crashes when it collects a traceback that holds a view of a `BytesIO`."""
    (tmp_path / "w.hdf5").write_bytes(b"old")
    images: list[io.BytesIO] = []
    monkeypatch.setattr(
        io,
        "BytesIO",
        lambda original=io.BytesIO: images.append(original()) or images[-1],
    )
    array = np.random.default_rng(1).standard_normal((300, 300)).astype(np.float32)
    with (
        file_size_limit(4096),
        pytest.raises(
            InputError, match="w.hdf5: cannot write: File too large"
        ) as error,
    ):
        write_hdf5({"array": array}, tmp_path / "w.hdf5")
    assert error.tb is not None
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [
        ("w.hdf5", b"old")
    ]
    images[0].close()  # raises BufferError while there is a view


def without_values(file: h5py.File) -> None:
    file.create_dataset("x", (10**6, 10**6), "f4")


def bomb(file: h5py.File) -> None:
    made = file.create_dataset("x", (9, 9), "f4", chunks=(9, 9), compression="gzip")
    made.id.write_direct_chunk((0, 0), zlib.compress(bytes(2**27), 9))


def large_chunk(file: h5py.File) -> None:
    file.create_dataset("x", (9, 9), "f4", maxshape=(None, None), chunks=(9999, 9999))
    file["x"][0, 0] = 1


@pytest.mark.parametrize("write", [without_values, bomb, large_chunk])
def test_values_that_the_file_does_not_have(
    write: Callable[[h5py.File], None], tmp_path: Path
) -> None:
    with h5py.File(tmp_path / "file", "w") as file:
        write(file)
    with (
        h5py.File(tmp_path / "file") as file,
        grown() as memory,
        pytest.raises(InputError, match="file: dataset 'x': expected .* bytes, got"),
    ):
        own_dataset(file, "x")
    assert memory[0] < 2**25


def test_compressed_values_are_read(tmp_path: Path) -> None:
    zeros = np.zeros((2000, 2000), np.float32)
    write_hdf5({"x": zeros}, tmp_path / "file")
    with h5py.File(tmp_path / "file") as file:
        assert np.array_equal(own_dataset(file, "x")[...], zeros)


def test_large_datasets_that_are_all_there_are_read(tmp_path: Path) -> None:
    values = np.random.default_rng(2).integers(0, 256, 2**24 + 8, np.uint8)
    with h5py.File(tmp_path / "file", "w") as file:
        file["plain"] = values
        file.create_dataset("chunked", data=values, chunks=(2**16,), compression=1)
        for name in ("plain", "chunked"):
            assert unbounded(file[name]) is None
