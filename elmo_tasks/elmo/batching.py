"""Sentences of any number and length -> batches of windows -> their vectors, in this process or in several."""

import pickle
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import torch

from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.windows import Window, windows
from elmo_tasks.errors import InputError
from elmo_tasks.settings import Count, Settings, Size, Wrong, checked
from elmo_tasks.workers import Processes, Workers, call_held

_SORTED_BATCHES, _SORTED_SENTENCES = 4, 1024


class Sentence(NamedTuple):
    """A sentence of a text, its tokens, and what errors call it."""

    text: str
    tokens: list[str]
    name: str


def parsed(
    lines: Iterable[tuple[str, int, str | list[str]]], parse: Callable[[str], list[str]]
) -> Iterator[Sentence]:
    """
    The sentences of lines, each with its file and number, which are text, for `parse`, or tokens. Raises `InputError`
    for an invalid one.
    """
    for file, number, line in lines:
        try:
            tokens = line if isinstance(line, list) else parse(line)
            "".join(tokens).encode()
        except UnicodeEncodeError:
            raise InputError(
                "expected text, got a lone surrogate", file=file, line=number
            ) from None
        except InputError as error:
            raise InputError(str(error), file=file, line=number) from None
        yield Sentence(
            " ".join(line) if isinstance(line, list) else line.strip(),
            tokens,
            f"{file}:{number}",
        )


@dataclass(frozen=True, kw_only=True)
class BatchSizes(Settings):
    """
    Sentences of more than `max_length` tokens are split into windows of so many, which share `overlap` tokens. A batch
    has at most `batch_size` windows and `max_tokens` tokens with padding.
    """

    max_length: Size = 512
    overlap: Count = 128
    batch_size: Size = 64
    max_tokens: Size = 4096

    def conflicts(self) -> Iterator[Wrong]:
        if self.overlap > self.max_length // 2:
            yield Wrong(
                "overlap",
                f"at most half of max_length, {self.max_length // 2}",
                self.overlap,
            )

    def of_windows(self) -> dict[str, int]:
        """The sizes on which vectors depend by more than rounding."""
        return {"max_length": self.max_length, "overlap": self.overlap}


def embed_windows(
    model: VectorModel,
    sizes: BatchSizes,
    sentences: Sequence[Sentence],
    pool: Workers | None = None,
) -> Iterator[tuple[int, Window, np.ndarray]]:
    """
    The windows of sentences, each with the sentence's index and the vectors of its tokens `first` to `last`, [L+1, T,
    D] or [T, D]; windows of similar length are computed together. `pool` is from `workers`.
    """
    pieces = [
        (index, window)
        for index, sentence in enumerate(sentences)
        for window in windows(
            len(sentence.tokens), limit=sizes.max_length, overlap=sizes.overlap
        )
    ]
    lengths = [window.end - window.start for _, window in pieces]
    places = batches_by_length(
        lengths, batch_size=sizes.batch_size, max_tokens=sizes.max_tokens
    )
    batches = [[pieces[place] for place in batch] for batch in places]
    texts = [
        [sentences[index].tokens[window.start : window.end] for index, window in batch]
        for batch in batches
    ]
    names = [[sentences[index].name for index, _ in batch] for batch in batches]
    computed = (
        map(model.vectors, texts, names)
        if pool is None
        else pool.map(call_held, repeat("vectors", len(texts)), texts, names)
    )
    for batch, vectors in zip(batches, computed, strict=True):
        for (index, window), row in zip(
            batch, vectors.swapaxes(0, 1), strict=True
        ):  # [L, T, D]
            own = row[:, window.first - window.start : window.last - window.start]
            yield index, window, own if model.has_layers else own[0]


def embed_into(
    arrays: Sequence[np.ndarray],
    model: VectorModel,
    sizes: BatchSizes,
    sentences: Sequence[Sentence],
    progress: Callable[[int], Any] = lambda tokens: None,
) -> None:
    """Write the vectors of sentences to arrays of `model.shape`; `progress` is called with numbers of tokens."""
    for index, window, vectors in embed_windows(model, sizes, sentences):
        arrays[index][..., window.first : window.last, :] = vectors
        progress(window.last - window.first)


def blocks(
    sentences: Iterable[Sentence], sizes: BatchSizes
) -> Iterator[list[Sentence]]:
    """Sentences that are sorted by length together and are in memory: of a few full batches, or so many."""
    block, tokens = list[Sentence](), 0
    for sentence in sentences:
        block.append(sentence)
        tokens += len(sentence.tokens)
        if (
            tokens >= _SORTED_BATCHES * sizes.max_tokens
            or len(block) == _SORTED_SENTENCES
        ):
            yield block
            block, tokens = [], 0
    if block:
        yield block


@contextmanager
@checked
def workers(model: VectorModel, count: Size) -> Iterator[Workers | None]:
    """`count` processes for `embed_windows`, `None` for one, which exit with this one."""
    if count == 1:
        return (yield None)
    sent = pickle.dumps(model)  # bytes: torch would pass file descriptors
    threads = max(1, torch.get_num_threads() // count)
    with Processes(count, _load, sent, threads) as pool:
        yield pool


def _load(model: bytes, threads: int) -> VectorModel:
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches all processes; this one exits with its parent
    torch.set_num_threads(threads)
    return pickle.loads(model)
