"""Vectors in a file of HDF5: the names in it, and reading it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from elmo_tasks.elmo.vectors.stored import StoredVectors, reading_vectors
from elmo_tasks.errors import InputError
from elmo_tasks.formats.hdf5 import own_dataset, reading

FORMAT = "elmo_tasks vectors 1"
"""The attribute `format` of the root group."""

SENTENCE_TO_INDEX = "sentence_to_index"
"""
As in AllenNLP 0.x: JSON that maps each line that is not blank to the name of its
dataset.
"""

TOKENS = "index/tokens"
"""The tokens of all sentences."""

OFFSETS = "index/offsets"
"""Sentence i has the tokens `offsets[i]` to `offsets[i + 1]`."""

SENTENCES = "index/sentences"
"""The lines of the text, without surrounding white space."""

SCALES = "index/scales"
"""
Of int8 vectors, float32 [tokens, L+1], or [tokens, 1] without an axis of layers: a
value is that in the dataset times its scale.
"""


POOLING = "pooling"
"""The attribute of a file with one vector for each sentence: how it was pooled."""


class Hdf5Vectors(StoredVectors):
    """`ElmoVectors` of a file."""

    def __init__(self, file: Path) -> None:
        if not file.is_file():
            raise InputError("no such file of vectors", file=file)
        with reading(file, "cannot be read as HDF5", hint="is the copy complete?"):
            self._hdf5 = h5py.File(file, "r")
        with reading_vectors(file):
            info = _attributes(self._hdf5)
            file_format = info.get("format")
            if file_format != FORMAT:
                raise InputError(
                    f"expected the format {FORMAT!r}, got {file_format!r}",
                    file=file,
                    hint="h5py reads the files of AllenNLP 0.x and bilm-tf",
                )
            length = int(info["sentences"])
            if own_dataset(self._hdf5, OFFSETS).shape != (length + 1,):
                raise ValueError(f"expected the offsets of {length} sentences")
        super().__init__(file, info, length)

    def tokens(self, index: int) -> list[str]:
        index = range(len(self))[index]
        with self._reading() as hdf5:
            own = _tokens_of(hdf5, index)
            return own_dataset(hdf5, TOKENS).asstr()[own].tolist()

    def sentence(self, index: int) -> str:
        index = range(len(self))[index]
        with self._reading() as hdf5:
            return own_dataset(hdf5, SENTENCES).asstr()[index]

    def close(self) -> None:
        self._hdf5.close()

    def array(self, index: int) -> np.ndarray:
        ndim = 3 if self.has_layers else 2
        if POOLING in self.info:
            ndim -= 1
        is_int8 = self.info.get("dtype") == "int8"
        kind = "i" if is_int8 else "f"
        with self._reading() as hdf5:
            dataset = own_dataset(hdf5, str(index))
            if dataset.ndim != ndim or dataset.dtype.kind != kind:
                got = f"{dataset.shape} of {dataset.dtype}"
                expected = f"{ndim} axes of numbers in dataset {index}"
                raise ValueError(f"expected {expected}, got {got}")
            if not is_int8:
                return dataset[()]
            own = _tokens_of(hdf5, index)
            scales = own_dataset(hdf5, SCALES)[own].T  # [L+1, T] or [1, T]
            of_vectors = scales.reshape(*dataset.shape[:-1], 1).astype(np.float32)
            return dataset[()] * of_vectors

    @contextmanager
    def _reading(self) -> Iterator[h5py.File]:
        if not self._hdf5:
            raise InputError("the file of vectors has been closed", file=self.file)
        with reading_vectors(self.file):
            yield self._hdf5


def _attributes(hdf5: h5py.File) -> dict[str, Any]:
    """What the root group says of the file."""
    attributes: dict[str, Any] = {}
    for key, value in hdf5.attrs.items():
        if isinstance(value, np.generic):
            value = value.item()
        attributes[key] = value
    return attributes


def _tokens_of(hdf5: h5py.File, index: int) -> slice:
    """The indices of a sentence's tokens among those of all."""
    start, end = own_dataset(hdf5, OFFSETS)[index : index + 2]
    return slice(int(start), int(end))
