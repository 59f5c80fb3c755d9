"""Sentences of any number and length -> batches of windows -> their vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.windows import Window, windows
from elmo_tasks.errors import InputError, require_sizes


class Piece(NamedTuple):
    """A window of the sentence with this index."""

    sentence: int
    window: Window


@dataclass(frozen=True, kw_only=True)
class BatchSizes:
    """
    How sentences become batches.

    # Parameters

    - `max_length`, `overlap`: longer sentences are split into windows of `max_length` tokens that share `overlap`
      tokens.
    - `batch_size`, `max_tokens`: the largest number of windows and of tokens with padding in a batch.

    Raises `InputError` if a value is invalid.
    """

    max_length: int = 512
    overlap: int = 128
    batch_size: int = 64
    max_tokens: int = 4096

    def __post_init__(self) -> None:
        limit = self.max_length
        if not 1 <= limit < 2**31:
            raise InputError(f"max_length: expected a number from 1 to {2**31 - 1}, got {limit}")
        if not 0 <= self.overlap <= limit // 2:
            raise InputError(
                f"overlap: expected a number from 0 to half of max_length, {limit // 2}, got {self.overlap}"
            )
        require_sizes(batch_size=self.batch_size, max_tokens=self.max_tokens)

    def windows(self, length: int) -> list[Window]:
        """The windows of a sentence of `length` tokens."""
        return windows(length, limit=self.max_length, overlap=self.overlap)

    def pieces(self, sentences: Sequence[Sequence[str]]) -> list[Piece]:
        """The windows of sentences, the shortest first."""
        lengths = enumerate(map(len, sentences))
        pieces = [Piece(sentence, window) for sentence, length in lengths for window in self.windows(length)]
        return sorted(pieces, key=_length)


def embed_pieces(
    model: VectorModel,
    sizes: BatchSizes,
    pieces: Sequence[Piece],
    sentences: Sequence[list[str]],
    *,
    names: Sequence[str] | None = None,
) -> Iterator[list[tuple[Piece, np.ndarray]]]:
    """
    The pieces of `sentences` in order, a batch at a time, with the vectors of the tokens `first` to `last` of each
    window, [L+1, T, D] or [T, D]. `names` is what errors call the sentences, if not by their numbers.
    """
    names = names or [f"line {number}" for number in range(1, len(sentences) + 1)]
    for places in batches_by_length(
        list(map(_length, pieces)), batch_size=sizes.batch_size, max_tokens=sizes.max_tokens
    ):
        batch = [pieces[place] for place in places]
        texts = [sentences[index][window.start : window.end] for index, window in batch]
        vectors = model.vectors(texts, [names[piece.sentence] for piece in batch])
        yield _parts(batch, vectors, model.has_layers)


def _parts(batch: list[Piece], vectors: np.ndarray, has_layers: bool) -> list[tuple[Piece, np.ndarray]]:
    """Vectors [L, B, T, D] by piece, without padding and without the tokens taken from other windows."""
    parts = []
    for row, piece in zip(vectors.swapaxes(0, 1), batch, strict=True):  # [L, T, D]
        start, _, first, last = piece.window
        part = row[:, first - start : last - start]
        parts.append((piece, part if has_layers else part[0]))
    return parts


def _length(piece: Piece) -> int:
    return piece.window.end - piece.window.start
