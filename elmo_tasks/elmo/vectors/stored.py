"""What files and folders of vectors have in common for their readers."""

import json
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np

from elmo_tasks.formats.hdf5 import reading


class StoredVectors(Sequence[np.ndarray]):
    """
    The vectors of each sentence, read from a file or a folder on access; see
    `ElmoVectors`.

    # Parameters

    - `info`: what the vectors were made from.
    - `length`: the number of sentences.
    """

    def __init__(self, file: Path, info: dict[str, Any], length: int) -> None:
        self.file = file
        self.info = info
        self._length = length

    @property
    def layer_names(self) -> list[str]:
        """
        Names of the layers along the first axis; one name if only one layer was
        written.
        """
        with reading_vectors(self.file):
            return list(json.loads(self.info["layers"]))

    @property
    def has_layers(self) -> bool:
        """Whether a sentence's vectors have an axis of layers."""
        return self.info["output"] == "all"

    @abstractmethod
    def tokens(self, index: int) -> list[str]:
        """The T tokens of a sentence."""

    @abstractmethod
    def sentence(self, index: int) -> str:
        """The line of a sentence without surrounding white space."""

    @abstractmethod
    def close(self) -> None:
        """Closes the files."""

    @abstractmethod
    def array(self, index: int) -> np.ndarray:
        """The vectors of a sentence, [L+1, T, D] or [T, D]."""

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int | slice) -> Any:
        chosen = range(len(self))[index]
        if isinstance(chosen, range):
            return [self.array(one) for one in chosen]
        return self.array(chosen)


def reading_vectors(file: Path) -> AbstractContextManager[None]:
    """Converts the errors that a damaged file raises to `InputError`."""
    return reading(file, "the file is damaged", hint="copy or write it again")
