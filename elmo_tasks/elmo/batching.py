"""Sentences of any number and length -> batches of windows -> their vectors, in this process or in several."""

import pickle
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.windows import Window, windows
from elmo_tasks.errors import InputError, require_sizes, require_workers
from elmo_tasks.processes import worker_pool


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
    pool: Executor | None = None,
) -> Iterator[list[tuple[Piece, np.ndarray]]]:
    """
    The pieces of `sentences` in order, a batch at a time, with the vectors of the tokens `first` to `last` of each
    window, [L+1, T, D] or [T, D]. `names` is what errors call the sentences, if not by their numbers; `pool` is from
    `workers`.
    """
    names = names or [f"line {number}" for number in range(1, len(sentences) + 1)]
    waiting: deque[tuple[list[Piece], Future[np.ndarray]]] = deque()
    for places in batches_by_length(
        list(map(_length, pieces)), batch_size=sizes.batch_size, max_tokens=sizes.max_tokens
    ):
        batch = [pieces[place] for place in places]
        texts = [sentences[index][window.start : window.end] for index, window in batch]
        called = [names[piece.sentence] for piece in batch]
        if pool is None:
            yield _parts(batch, model.vectors(texts, called), model.has_layers)
        else:
            waiting.append((batch, pool.submit(_vectors, texts, called)))
        if pool is not None and len(waiting) > 2 * pool._max_workers:  # type: ignore[attr-defined]
            batch, future = waiting.popleft()
            yield _parts(batch, future.result(), model.has_layers)
    for batch, future in waiting:
        yield _parts(batch, future.result(), model.has_layers)


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


@contextmanager
def workers(model: VectorModel, count: int) -> Iterator[Executor | None]:
    """
    `count` processes for `embed_pieces`, `None` for one, which exit with this one. A killed one is an `InputError`.
    """
    require_workers(count)
    if count == 1:
        return (yield None)
    sent = pickle.dumps(model)  # bytes: torch would pass file descriptors
    threads = max(1, torch.get_num_threads() // count)
    with worker_pool(count, _start_worker, sent, threads) as pool:
        yield pool


_of_worker: list[VectorModel] = []


def _start_worker(model: bytes, threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; this one exits with its parent
    torch.set_num_threads(threads)
    _of_worker.append(pickle.loads(model))


def _vectors(sentences: list[list[str]], names: list[str]) -> np.ndarray:
    """`VectorModel.vectors` in a worker."""
    return _of_worker[0].vectors(sentences, names)
