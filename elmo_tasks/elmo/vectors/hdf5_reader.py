"""
Read the vectors that `elmo-tasks elmo` writes to a file of HDF5; the names in it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from elmo_tasks.errors import InputError
from elmo_tasks.formats.hdf5 import own_dataset, reading
from elmo_tasks.settings import PathLike, checked

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


class ElmoVectors(Sequence[np.ndarray]):
    """
    A lazily read sequence of the vectors of each sentence.

    `vectors[i]` is the array of line i, counted from 0, with the shape [L+1, T, D] if
    all layers were written, else [T, D], in float32 or float16; int8 is returned as
    float32. A blank line has T = 0. If the file was written with `pooling`, there is no
    axis of tokens. Copies and pickles open the file again.

    Raises `InputError` if the file is missing, damaged, of another format or closed.

    # Example

    ```python
    with ElmoVectors("out.hdf5") as vectors:
        for index, array in enumerate(vectors):
            print(vectors.tokens(index), array.shape)
    ```
    """

    @checked
    def __init__(self, file: PathLike) -> None:
        self.file = Path(file)
        if not self.file.is_file():
            raise InputError("no such file of vectors", file=file)
        with reading(self.file, "cannot be read as HDF5", hint="is the copy complete?"):
            self._hdf5 = h5py.File(self.file, "r")
        with self._reading():
            self._info: dict[str, Any] = {}
            for key, value in self._hdf5.attrs.items():
                if isinstance(value, np.generic):
                    value = value.item()
                self._info[key] = value
            file_format = self._info.get("format")
            if file_format != FORMAT:
                raise InputError(
                    f"expected the format {FORMAT!r}, got {file_format!r}",
                    file=file,
                    hint="h5py reads the files of AllenNLP 0.x and bilm-tf",
                )
            self._length = int(self._info["sentences"])
            if own_dataset(self._hdf5, OFFSETS).shape != (self._length + 1,):
                raise ValueError(f"expected the offsets of {self._length} sentences")

    @property
    def info(self) -> dict[str, Any]:
        """
        What the vectors were made from: `model`, `model_sha256`, `options` and
        `vocabulary_sha256` (a biLM's), `state`, `output` (`all`, `top`, `average`, or
        `mix` with `layer_weights`), `dtype`, `text_sha256`, `tokenizer`, `max_length`,
        `overlap`, versions and more.
        """
        return dict(self._info)

    def tokens(self, index: int) -> list[str]:
        """The T tokens of a sentence."""
        index = range(len(self))[index]
        with self._reading() as hdf5:
            own = _tokens_of(hdf5, index)
            return own_dataset(hdf5, TOKENS).asstr()[own].tolist()

    def sentence(self, index: int) -> str:
        """The line of a sentence without surrounding white space."""
        index = range(len(self))[index]
        with self._reading() as hdf5:
            return own_dataset(hdf5, SENTENCES).asstr()[index]

    def close(self) -> None:
        """Closes the file."""
        self._hdf5.close()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int | slice) -> Any:
        chosen = range(len(self))[index]
        if isinstance(chosen, range):
            return [self._array(one) for one in chosen]
        return self._array(chosen)

    def __enter__(self) -> "ElmoVectors":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return ElmoVectors, (self.file.absolute(),)

    def _array(self, index: int) -> np.ndarray:
        """The vectors of a sentence, [L+1, T, D] or [T, D]."""
        with self._reading() as hdf5:
            dataset = own_dataset(hdf5, str(index))
            is_int8 = self._info.get("dtype") == "int8"
            if dataset.dtype.kind != ("i" if is_int8 else "f"):
                got = f"{dataset.dtype} in dataset {index}"
                raise ValueError(f"expected numbers of the file's type, got {got}")
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
        with reading(self.file, "the file is damaged", hint="copy or write it again"):
            yield self._hdf5


def _tokens_of(hdf5: h5py.File, index: int) -> slice:
    """The indices of a sentence's tokens among those of all."""
    start, end = own_dataset(hdf5, OFFSETS)[index : index + 2]
    return slice(int(start), int(end))
