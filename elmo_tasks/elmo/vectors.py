"""The file that `allennlp elmo` writes: HDF5 with a dataset of vectors for each sentence, and its reader."""

import json
import operator
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, overload

import h5py
import numpy as np

from elmo_tasks.errors import InputError
from elmo_tasks.hdf5 import own_dataset, reading

FORMAT = "elmo_tasks vectors 1"
"""The root's attribute `format`; counts up when what follows changes."""

SENTENCE_TO_INDEX = "sentence_to_index"
"""As AllenNLP 0.x has it: JSON, from each line that is not blank to the name of its dataset, a string."""

INDEX, OFFSETS, SENTENCES, TOKENS, DONE = "index", "index/offsets", "index/sentences", "index/tokens", "index/done"
"""
Tokens `offsets[i]` to `offsets[i + 1]`, the last not included, are those of sentence i; `sentences` has the lines as
they were. `done` counts the pieces whose vectors are there, out of the root's attribute `pieces`.
"""

PART = ".part"
"""What the name of a file ends in until all its vectors are there."""

_LOCKED = "file locking"
"""In HDF5's message: all who open a file in one process must open it with the same locks."""


class ElmoVectors(Sequence[np.ndarray]):
    """
    The vectors of a file's sentences, read one sentence at a time.

    `vectors[i]` is the array of the sentence in line i, counted from 0: shape [L+1, T, D] where all layers were
    written, else [T, D]; float32 or float16. A blank line has T = 0. Copies for other processes open the file anew.

    # Parameters

    file : `str` or `Path`

    # Raises

    `InputError`
        If there is no such file; if it is none of ours, of another version, truncated or not finished; later, if it is
        damaged where it is read, or was closed.
    `TypeError`, `IndexError`
        As a list does.

    # Example

    ```python
    with ElmoVectors("out.hdf5") as vectors:
        for index, array in enumerate(vectors):
            print(vectors.tokens(index), array.shape)
    ```
    """

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)
        self._hdf5 = open_vectors(self.file)
        with reading_vectors(self.file):
            info = self.info
            self._count, self._ndim = int(info["sentences"]), 3 if info["output"] == "all" else 2
            pieces, done = int(info["pieces"]), int(own_dataset(self._hdf5, DONE)[0])
        if done != pieces:
            self.close()
            hint = "run the command that writes it again: it goes on"
            raise InputError(f"not finished: {done} of {pieces} pieces are there", file=file, hint=hint)

    @property
    def info(self) -> dict[str, Any]:
        """
        What is known of the vectors: `options_sha256`, `weights_sha256`, `options` (the biLM's), `state`, `output`
        (`all`, `top` or `average`), `dtype`, `text_sha256`, `tokenizer`, `max_length`, `overlap`, versions and more.
        """
        return attributes_of(self._opened, self.file)

    @property
    def layer_names(self) -> list[str]:
        """What stands along the first axis where all layers were written; else the one name of what was."""
        with reading_vectors(self.file):
            names = json.loads(self.info["layers"])
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                raise ValueError(f"expected a list of layer names, got {names!r}")
            return names

    def tokens(self, index: int) -> list[str]:
        """The T tokens of a sentence."""
        place, hdf5 = self._place(index), self._opened
        with reading_vectors(self.file):
            start, end = own_dataset(hdf5, OFFSETS)[place : place + 2]
            self._require_held(int(end) - int(start))
            return own_dataset(hdf5, TOKENS).asstr()[start:end].tolist()

    def sentence(self, index: int) -> str:
        """A sentence's line as it was, without white space around it."""
        place, hdf5 = self._place(index), self._opened
        with reading_vectors(self.file):
            return own_dataset(hdf5, SENTENCES).asstr()[place]

    def close(self) -> None:
        """Close the file; nothing can be read afterwards."""
        self._hdf5.close()

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...

    @overload
    def __getitem__(self, index: slice) -> list[np.ndarray]: ...

    def __getitem__(self, index: int | slice) -> np.ndarray | list[np.ndarray]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._count))]
        place, hdf5 = self._place(index), self._opened
        with reading_vectors(self.file):
            dataset = own_dataset(hdf5, str(place))
            if dataset.ndim != self._ndim or dataset.dtype.kind != "f":
                found = f"{dataset.shape} of {dataset.dtype}"
                raise ValueError(f"expected {self._ndim} axes of floats in dataset {place}, got {found}")
            self._require_held(dataset.nbytes)
            return dataset[()]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[place] for place in range(self._count))

    def __enter__(self) -> "ElmoVectors":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return type(self), (self.file.absolute(),)

    @property
    def _opened(self) -> h5py.File:
        """
        # Raises

        `InputError` where it is closed.
        """
        if not self._hdf5:
            raise InputError("the vectors were closed, nothing can be read", file=self.file, hint="open them anew")
        return self._hdf5

    def _require_held(self, size: int) -> None:
        """Raises `ValueError` where the file has fewer bytes: a damaged one may claim any size."""
        if size > self._hdf5.id.get_filesize():
            raise ValueError(f"it claims to hold {size:,} bytes or tokens in one place")

    def _place(self, index: int) -> int:
        """
        # Raises

        `IndexError` where there is no such sentence, `TypeError` where the index is no whole number.
        """
        try:
            number = int(operator.index(index))
        except TypeError:
            raise TypeError(f"a sentence's place or a slice was wanted, found {index!r}") from None
        place = number + self._count if number < 0 else number
        if not 0 <= place < self._count:
            raise IndexError(f"{self.file} has {self._count} sentences, there is no sentence {index}")
        return place


def open_vectors(file: Path) -> h5py.File:
    """
    A file of ours, finished or not, for reading.

    # Raises

    `InputError` where it is missing, none of ours, of another version or truncated, or where this process has it open
    with locks that are not HDF5's usual ones.
    """
    if not file.is_file():
        raise InputError("no such file of vectors", file=file)
    try:
        hdf5 = _open(file)
    except OSError as error:
        hint = "close it first" if _LOCKED in str(error) else "is the copy complete?"
        raise InputError(f"cannot be read as HDF5: {error}", file=file, hint=hint) from None
    with reading_vectors(file):
        found = hdf5.attrs.get("format")
        found = found if found is None or isinstance(found, str) else repr(found)
        if found == FORMAT:
            _require_count(hdf5)
            return hdf5
        old = "0" in hdf5
        hdf5.close()
    if found is None and old:
        hint = "h5py reads it: h5py.File(file)['0'] is the first sentence"
        raise InputError("vectors without an index, as AllenNLP 0.x and bilm-tf wrote them", file=file, hint=hint)
    raise InputError(f"vectors of the format {FORMAT!r} were wanted, found {found or 'another HDF5 file'!r}", file=file)


def attributes_of(hdf5: h5py.File, file: Path) -> dict[str, Any]:
    """The root's attributes. Raises `InputError` where one is neither a string nor a number."""
    with reading_vectors(file):
        found = {key: value.item() if isinstance(value, np.generic) else value for key, value in hdf5.attrs.items()}
        for key, value in found.items():
            if not isinstance(value, str | int | float):
                raise TypeError(f"expected a string or a number as attribute {key!r}, got {value!r}")
        return found


def _require_count(hdf5: h5py.File) -> None:
    """Raises `ValueError` where the number of sentences is not that of the index."""
    count, offsets = int(hdf5.attrs["sentences"]), own_dataset(hdf5, OFFSETS).shape
    if count < 0 or offsets != (count + 1,):
        raise ValueError(f"expected offsets of shape ({count + 1},) for {count} sentences, got {offsets}")


def _open(file: Path) -> h5py.File:
    """Without locks, which some file systems lack; where the process has the file open with locks, with them."""
    try:
        return h5py.File(file, "r", locking=False)
    except OSError as error:
        if _LOCKED not in str(error):
            raise
        return h5py.File(file, "r")


def reading_vectors(file: Path) -> AbstractContextManager[None]:
    """Raises `InputError` where h5py finds the file damaged, whatever h5py itself raises."""
    return reading(file, "the file is damaged", hint="copy it again, or write it again")
