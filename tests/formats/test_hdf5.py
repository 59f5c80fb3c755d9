"""HDF5 files: rounding, links, and a full disk."""

import io
from pathlib import Path

import h5py
import numpy as np
import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.hdf5 import (
    new_hdf5,
    not_stored,
    own_dataset,
    round_mantissa,
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


def test_rounding_ties_to_even() -> None:
    """Of one bit, so that 1, 1.5 and 2 are the neighbours."""
    values = np.array([1.25, 1.75, -1.25, 1.26, 3.5, 0, 2.0**-140], np.float32)
    expected = [1, 2, -1, 1.5, 4, 0, 2.0**-140]
    assert round_mantissa(values, 1).tolist() == expected
    assert round_mantissa(values, 0).tolist() == [1, 2, -1, 1, 4, 0, 2.0**-140]
    for bits in (23, None):
        assert np.array_equal(round_mantissa(values, bits), values)
    assert round_mantissa(np.array([1.0]), 5).dtype == np.float32


def test_written_files_are_small(tmp_path: Path) -> None:
    values = np.random.default_rng(1).standard_normal((100, 100)).astype(np.float32)
    write_hdf5({"a/b": values, "c": values[:2]}, tmp_path / "x", mantissa_bits=3)
    with h5py.File(tmp_path / "x") as file:
        assert np.array_equal(file["a/b"], round_mantissa(values, 3))
        assert np.array_equal(file["c"], round_mantissa(values[:2], 3))
        dataset = file["a/b"]
        assert dataset.shuffle and dataset.compression == "gzip"
        assert dataset.compression_opts == 9 and dataset.dtype == "<f4"
    assert (tmp_path / "x").stat().st_size < 0.5 * values.nbytes


def test_items_that_are_elsewhere(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other", "w") as file:
        file["x"] = np.ones(3)
    (tmp_path / "raw").write_bytes(bytes(12))
    layout = h5py.VirtualLayout((3,), "f4")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other"), "x", (3,))
    with h5py.File(tmp_path / "file", "w") as file:
        file["group/own"] = np.ones(3)
        file["group/external"] = h5py.ExternalLink(str(tmp_path / "other"), "x")
        file["soft"] = h5py.SoftLink("/group/own")
        file["linked"] = h5py.SoftLink("/group")
        file["hard"] = file["group/own"]
        file.create_virtual_dataset("virtual", layout)
        raw = [(str(tmp_path / "raw"), 0, 12)]
        file.create_dataset("outside", (3,), "f4", external=raw)
        for name in ("group/own", "hard", "soft", "linked/own"):
            assert own_dataset(file, name)[...].tolist() == [1, 1, 1]
        for name in ("group/external", "virtual", "outside"):
            with pytest.raises(InputError, match=f"file: dataset '{name}': expected"):
                own_dataset(file, name)
        with pytest.raises(KeyError):
            own_dataset(file, "none")
        with pytest.raises(TypeError, match="expected a dataset 'group', got a group"):
            own_dataset(file, "group")


@pytest.mark.parametrize(("size", "is_bounded"), [(2**24, True), (2**24 + 4, False)])
def test_the_size_of_a_dataset_without_values(
    size: int, is_bounded: bool, tmp_path: Path
) -> None:
    with h5py.File(tmp_path / "file", "w") as file:
        problem = not_stored(file.create_dataset("x", (size // 4,), "f4"))
    assert problem == (None if is_bounded else f"expected {size:,} bytes, got 0")


def test_new_files(tmp_path: Path) -> None:
    """Of a full disk, see tests/elmo/vectors/test_hdf5_writer.py."""
    with new_hdf5(tmp_path / "x", size=10**6, name=tmp_path / "named") as file:
        file["a"] = np.arange(5)
        assert (tmp_path / "x").stat().st_size >= 10**6  # reserved
    assert (tmp_path / "x").stat().st_size < 10**5
    with h5py.File(tmp_path / "x") as file:
        assert file["a"][...].tolist() == [0, 1, 2, 3, 4]
    with (
        pytest.raises(InputError, match="named: cannot write: File too large"),
        new_hdf5(tmp_path / "y", size=1, name=tmp_path / "named") as file,
        file_size_limit(10**4),
    ):
        file["a"] = np.arange(10**5)


def test_failed_write_leaves_the_old_file_and_no_view_of_the_buffer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Python 3.12 crashes when it collects a traceback that holds a view of a `BytesIO`.
    """
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


def test_values_that_the_file_does_not_have(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "file", "w") as file:
        file.create_dataset("x", (10**6, 10**6), "f4")
        with (
            grown() as memory,
            pytest.raises(
                InputError, match="file: dataset 'x': expected .* bytes, got"
            ),
        ):
            own_dataset(file, "x")
    assert memory[0] < 2**25


def test_large_datasets_that_are_all_there_are_read(tmp_path: Path) -> None:
    values = np.random.default_rng(2).integers(0, 256, 2**24 + 8, np.uint8)
    with h5py.File(tmp_path / "file", "w") as file:
        file["plain"] = values
        file.create_dataset("chunked", data=values, chunks=(2**16,), compression=1)
        for name in ("plain", "chunked"):
            assert not_stored(file[name]) is None
