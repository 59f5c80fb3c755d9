"""
Read the vectors that `elmo-tasks elmo` writes: a file of HDF5, or a folder of shards.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np

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


class ElmoVectors(Sequence[np.ndarray]):
    """
    A lazily read sequence of the vectors of each sentence.

    `vectors[i]` is the array of line i, counted from 0, with the shape [L+1, T, D] if
    all layers were written, else [T, D], in float32 or float16; int8 is returned as
    float32. A blank line has T = 0. Copies and pickles open the file again. A folder of
    shards is read in the same way, which needs pyarrow.

    Raises `InputError` if the file is missing, damaged, of another format or closed.

    # Example

    ```python
    with ElmoVectors("out.hdf5") as vectors:
        for index, array in enumerate(vectors):
            print(vectors.tokens(index), array.shape)
    ```
    """

    def __new__(cls, file: str | Path) -> "ElmoVectors":
        if cls is ElmoVectors and Path(file).is_dir():
            from elmo_tasks.elmo.parquet_vectors import ShardedVectors

            return super().__new__(ShardedVectors)
        return super().__new__(cls)

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)
        if not self.file.is_file():
            raise InputError("no such file of vectors", file=file)
        with reading(file, "cannot be read as HDF5", hint="is the copy complete?"):
            self._hdf5 = h5py.File(self.file, "r")
        with self._reading() as hdf5:
            self._info: dict[str, Any] = {}
            for key, value in hdf5.attrs.items():
                if isinstance(value, np.generic):
                    value = value.item()
                self._info[key] = value
            found = self._info.get("format")
            if found != FORMAT:
                raise InputError(
                    f"expected the format {FORMAT!r}, got {found!r}",
                    file=file,
                    hint="h5py reads the files of AllenNLP 0.x and bilm-tf",
                )
            self._length = int(self._info["sentences"])
            if own_dataset(hdf5, OFFSETS).shape != (self._length + 1,):
                raise ValueError(f"expected the offsets of {self._length} sentences")

    @property
    def info(self) -> dict[str, Any]:
        """
        What the vectors were made from: `options_sha256`, `weights_sha256`, `options`
        (the biLM's), `state`, `output` (`all`, `top` or `average`), `dtype`,
        `text_sha256`, `tokenizer`, `max_length`, `overlap`, versions and more.
        """
        return dict(self._info)

    @property
    def layer_names(self) -> list[str]:
        """
        Names of the layers along the first axis; one name if only one layer was
        written.
        """
        with reading_vectors(self.file):
            return list(json.loads(self._info["layers"]))

    def tokens(self, index: int) -> list[str]:
        """The T tokens of a sentence."""
        place = range(len(self))[index]
        with self._reading() as hdf5:
            own = _tokens_of(hdf5, place)
            return own_dataset(hdf5, TOKENS).asstr()[own].tolist()

    def sentence(self, index: int) -> str:
        """The line of a sentence without surrounding white space."""
        place = range(len(self))[index]
        with self._reading() as hdf5:
            return own_dataset(hdf5, SENTENCES).asstr()[place]

    def close(self) -> None:
        self._hdf5.close()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int | slice) -> Any:
        places = range(len(self))[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        return self._array(places)

    def __enter__(self) -> "ElmoVectors":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return ElmoVectors, (self.file.absolute(),)

    def _array(self, place: int) -> np.ndarray:
        """The vectors of a sentence, [L+1, T, D] or [T, D]."""
        ndim = 2
        if self._info["output"] == "all":
            ndim = 3
        is_int8 = self._info.get("dtype") == "int8"
        kind = "i" if is_int8 else "f"
        with self._reading() as hdf5:
            dataset = own_dataset(hdf5, str(place))
            if dataset.ndim != ndim or dataset.dtype.kind != kind:
                found = f"{dataset.shape} of {dataset.dtype}"
                expected = f"{ndim} axes of numbers in dataset {place}"
                raise ValueError(f"expected {expected}, got {found}")
            if not is_int8:
                return dataset[()]
            own = _tokens_of(hdf5, place)
            scales = own_dataset(hdf5, SCALES)[own].T  # [L+1, T] or [1, T]
            of_vectors = scales.reshape(*dataset.shape[:-1], 1).astype(np.float32)
            return dataset[()] * of_vectors

    @contextmanager
    def _reading(self) -> Iterator[h5py.File]:
        if not self._hdf5:
            raise InputError("the file of vectors has been closed", file=self.file)
        with reading_vectors(self.file):
            yield self._hdf5


def _tokens_of(hdf5: h5py.File, place: int) -> slice:
    """The places of a sentence's tokens among those of all."""
    start, end = own_dataset(hdf5, OFFSETS)[place : place + 2]
    return slice(int(start), int(end))


def reading_vectors(file: Path) -> AbstractContextManager[None]:
    """Convert the errors that h5py raises for a damaged file to `InputError`."""
    return reading(file, "the file is damaged", hint="copy or write it again")
