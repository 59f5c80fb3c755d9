"""
Vectors of words that a trained model's vocabulary lacks.

They reach the model as data. `WordVectors` with a `lookup_file` has a `WordLookup`, and
a task model puts it into its vocabulary, a `WordVocabulary`. AllenNLP indexes every
text that is evaluated or predicted with the model's vocabulary. There `WordIndexer`
finds the unknown words that the file has, and adds their vectors to the batch:

    text -> WordIndexer, with WordVocabulary -> batch: ids and vectors -> WordVectors

So `forward` only reads tensors, and neither vocabulary nor table grow.
"""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from allennlp.data import Vocabulary
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.formats.vector_files import VectorFile

logger = logging.getLogger(__name__)

PREFIX = "vectors_"
"""How the names of the tensors with looked-up vectors begin."""

_FILE_IS_LOST = (
    "some words of the text count as unknown: the archive keeps only the vectors of"
    " training and validation words, and their file cannot be read; restore the file,"
    " or set lookup_file of the vectors with -o: %s"
)


class WordLookup:
    """
    The vectors of a file for words that a vocabulary lacks.

    The file is opened when the first word is looked up. If it cannot be read, it has no
    word, and a warning says so once.

    # Parameters

    - `file`: word vectors of dimension `width` (D), not compressed.
    - `normalize`: scales the vectors to length 1.
    - `namespace`: that of the words in the vocabulary.
    """

    def __init__(
        self, file: Path, width: int, *, normalize: bool, namespace: str
    ) -> None:
        self.file = file
        self.width = width
        self.normalize = normalize
        self.namespace = namespace

    @property
    def name(self) -> str:
        """The name of the tensor in a batch: equal for look-ups that find the same."""
        told_apart = f"{self.width} {self.normalize} {self.file}"
        digest = hashlib.sha256(told_apart.encode("utf-8", "surrogateescape"))
        return PREFIX + digest.hexdigest()[:16]

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

    def vectors(self, found: Sequence[bytes | None], length: int) -> Tensor:
        """
        The vectors of T spellings that were found, and of `None`, as one row of
        `length` numbers, at least T * D. What was not found, and the padding, is NaN,
        which no file contains.
        """
        row = np.full(length, np.nan, np.float32)
        for place, spelling in enumerate(found):
            if spelling is not None:
                start = place * self.width
                row[start : start + self.width] = self._vector(spelling)
        return torch.from_numpy(row)

    def _vector(self, spelling: bytes) -> np.ndarray:
        vector = None
        if self._vectors is not None:
            vector = self._vectors.get(spelling)
        if vector is None:
            problem = "expected the same vectors as when the text was read, got others or none"
            raise InputError(problem, file=self.file)
        if self.normalize:
            return unit(vector)
        return vector

    @cached_property
    def _vectors(self) -> VectorFile | None:
        try:
            return VectorFile(self.file, width=self.width)
        except InputError as error:
            logger.warning(_FILE_IS_LOST, error)
            return None

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process, which opens the file itself."""
        state = self.__dict__.copy()
        state.pop("_vectors", None)
        return state


class WordVocabulary(Vocabulary):
    """
    The words of `vocab`, and where vectors of other words are looked up. Words that are
    added to one of the two vocabularies are in the other.
    """

    def __init__(self, vocab: Vocabulary, lookups: Sequence[WordLookup]) -> None:
        self.__dict__.update(vocab.__dict__)
        self.lookups = tuple(lookups)


def with_lookups(vocab: Vocabulary, module: nn.Module) -> Vocabulary:
    """
    The vocabulary for a model with this part: it has the look-ups of word vectors.
    """
    lookups = []
    for part in module.modules():
        lookup = getattr(part, "lookup", None)
        if isinstance(lookup, WordLookup):
            lookups.append(lookup)
    if not lookups:
        return vocab
    return WordVocabulary(vocab, lookups)


def without_lookups(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a text field's key but those that were looked up."""
    kept = {}
    for name, tensor in tensors.items():
        if not name.startswith(PREFIX):
            kept[name] = tensor
    return kept


def unit(vector: np.ndarray) -> np.ndarray:
    """A vector [D], scaled to length 1 unless it is zero."""
    length = np.linalg.norm(vector)
    if length == 0:
        return vector
    return vector / length
