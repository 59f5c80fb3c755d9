"""
Read the vectors that `elmo-tasks elmo` writes: a file of HDF5, or a folder of shards.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.elmo.vectors.hdf5_reader import Hdf5Vectors
from elmo_tasks.elmo.vectors.parquet import ShardedVectors
from elmo_tasks.elmo.vectors.stored import StoredVectors
from elmo_tasks.settings import PathLike, checked


class ElmoVectors(Sequence[np.ndarray]):
    """
    A lazily read sequence of the vectors of each sentence.

    `vectors[i]` is the array of line i, counted from 0, with the shape [L+1, T, D] if
    all layers were written, else [T, D], in float32 or float16; int8 is returned as
    float32. A blank line has T = 0. If the file was written with `pooling`, there is no
    axis of tokens. Copies and pickles open the file again. A folder of
    shards is read in the same way, which needs pyarrow.

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
        self._stored: StoredVectors
        if self.file.is_dir():
            self._stored = ShardedVectors(self.file)
        else:
            self._stored = Hdf5Vectors(self.file)

    @property
    def info(self) -> dict[str, Any]:
        """
        What the vectors were made from: `options_sha256`, `weights_sha256`, `options`
        (the biLM's), `state`, `output` (`all`, `top` or `average`), `dtype`,
        `text_sha256`, `tokenizer`, `max_length`, `overlap`, versions and more.
        """
        return dict(self._stored.info)

    @property
    def layer_names(self) -> list[str]:
        """
        Names of the layers along the first axis; one name if only one layer was
        written.
        """
        return self._stored.layer_names

    def tokens(self, index: int) -> list[str]:
        """The T tokens of a sentence."""
        return self._stored.tokens(index)

    def sentence(self, index: int) -> str:
        """The line of a sentence without surrounding white space."""
        return self._stored.sentence(index)

    def close(self) -> None:
        """Closes the file; of a folder the open shard, which reading opens again."""
        self._stored.close()

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, index: int | slice) -> Any:
        return self._stored[index]

    def __enter__(self) -> "ElmoVectors":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return ElmoVectors, (self.file.absolute(),)
