"""
Vectors of words that a vocabulary lacks, from a file.

The archive of a model holds the vectors of the words of its training: all those of
GloVe 840B would add 2.6 GB to each checkpoint. The reader's `WordIndexer` looks other
words up when it indexes a text, and their vectors are a part of the batch:

    text -> WordIndexer, with a WordLookup -> batch: ids and vectors -> WordVectors

So `forward` only reads tensors, and neither vocabulary nor table grow.
"""

import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.errors import InputError
from elmo_tasks.formats.vector_files import VectorFile, width_of

logger = logging.getLogger(__name__)

_FILE_IS_LOST = (
    "some words of the text count as unknown: the archive keeps only the vectors of"
    " training and validation words, and their file cannot be read; restore the file,"
    " or set lookup_files of the dataset reader with -o: %s"
)


class WordLookup:
    """
    The vectors of a file for words that a vocabulary lacks.

    The file, which must not be compressed, is opened when the first word is looked up.
    If it cannot be read, it has no word, and a warning says so once.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def find(self, word: str, *, is_unknown: bool) -> bytes | None:
        """
        The spelling in UTF-8 under which the file has a word that is not in the
        vocabulary: the word, or in lower case if that `is_unknown`, too; else `None`.
        """
        if self._vectors is None:
            return None
        spellings = [word]
        if is_unknown:
            spellings.append(word.lower())
        for text in spellings:
            spelling = text.encode("utf-8", "surrogatepass")
            if spelling in self._vectors:
                return spelling
        return None

    def vectors(self, spellings: Sequence[bytes], rows: int) -> Tensor:
        """
        The vectors of spellings that were found, float32, [`rows`, D], from row 1. Row 0
        and the last ones are zeros: for words that were not looked up, and padding. If
        there is no other row, D is 0, and the file is not read.
        """
        if rows == 1:
            return torch.zeros(1, 0)
        vectors = self._vectors
        if vectors is None or not all(spelling in vectors for spelling in spellings):
            raise InputError(_CHANGED, file=self.file)
        table = np.zeros((rows, vectors.width), np.float32)
        for row, spelling in enumerate(spellings, start=1):
            table[row] = vectors.get(spelling)
        return torch.from_numpy(table)

    @cached_property
    def _vectors(self) -> VectorFile | None:
        try:
            return VectorFile(self.file, width=width_of(self.file))
        except InputError as error:
            logger.warning(_FILE_IS_LOST, error)
            return None

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process, which opens the file itself."""
        state = self.__dict__.copy()
        state.pop("_vectors", None)
        return state


_CHANGED = "expected the same vectors as when the text was read, got others or none"
