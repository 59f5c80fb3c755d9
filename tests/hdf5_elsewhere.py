"""HDF5 datasets whose values are stored elsewhere."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np


def _external_storage(
    file: h5py.File, name: str, values: np.ndarray, other: Path
) -> None:
    other.write_bytes(values.tobytes())
    file.create_dataset(
        name, values.shape, values.dtype, external=[(str(other), 0, values.nbytes)]
    )


def _virtual(file: h5py.File, name: str, values: np.ndarray, other: Path) -> None:
    layout = h5py.VirtualLayout(values.shape, values.dtype)
    layout[...] = h5py.VirtualSource(_stored(values, other), "values", values.shape)
    file.create_virtual_dataset(name, layout)


def _external_link(file: h5py.File, name: str, values: np.ndarray, other: Path) -> None:
    file[name] = h5py.ExternalLink(_stored(values, other), "values")


def _soft_link(file: h5py.File, name: str, values: np.ndarray, other: Path) -> None:
    file["other"] = values
    file[name] = h5py.SoftLink("/other")


def _stored(values: np.ndarray, other: Path) -> str:
    with h5py.File(other, "w") as stored:
        stored["values"] = values
    return str(other)


ELSEWHERE: dict[str, Callable[[h5py.File, str, np.ndarray, Path], None]] = {
    "external storage": _external_storage,
    "a virtual dataset": _virtual,
    "an external link": _external_link,
    "a soft link": _soft_link,
}
"""By their name in the error."""


def move(path: str | Path, name: str, to: str) -> None:
    """
    Moves the values of a dataset elsewhere; h5py still reads the same values under its
    name.
    """
    with h5py.File(path, "r+") as file:
        values = file[name][...]
        del file[name]
        ELSEWHERE[to](file, name, values, Path(path).with_suffix(".other"))
        assert np.array_equal(file[name][...], values)
