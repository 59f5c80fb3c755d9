"""
Sentences of any number and length -> batches of windows -> their vectors, in this
process or in several.
"""

import json
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.elmo.windows import Window, windows
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.raw_text import TEXT_IN_LIST, BlankWarning
from elmo_tasks.option_values import BatchSizes
from elmo_tasks.settings import Size, checked
from elmo_tasks.system.workers import processes

_BLOCK_BATCHES = 4
"""Full batches of a block of sentences."""

_BLOCK_SENTENCES = 1024
"""The most sentences of a block."""


class Sentence(NamedTuple):
    """A sentence of a text, its tokens, and what errors call it."""

    text: str
    tokens: list[str]
    name: str


Line = str | list[str]
"""Text, or its tokens."""

Compute = Callable[
    [list[list[list[str]]], list[list[str]]], Iterable[np.ndarray]  # [L, B, T, D] each
]
"""Batches of sentences, and their names -> `VectorModel.vectors` of each batch."""


def parsed(
    lines: Iterable[tuple[str, int, Line]], parse: Callable[[str], list[str]]
) -> Iterator[Sentence]:
    """
    The sentences of lines, each with its file and number; `parse` splits text into
    tokens. Raises `InputError` for an invalid one.
    """
    warn_of_blanks = BlankWarning(TEXT_IN_LIST)
    for file, number, line in lines:
        try:
            if isinstance(line, list):
                text = " ".join(line)
                tokens = line
                warn_of_blanks(tokens)
            else:
                text = line.strip()
                tokens = parse(line)
            "".join(tokens).encode()
        except UnicodeEncodeError:
            raise InputError(
                "expected text, got a lone surrogate", file=file, line=number
            ) from None
        except InputError as error:
            raise InputError(str(error), file=file, line=number) from None
        yield Sentence(text, tokens, f"{file}:{number}")


def bytes_of(line: Line) -> bytes:
    """What a digest of a text takes of a line."""
    if isinstance(line, list):
        text = json.dumps(line)
    else:
        text = line
    return text.encode() + b"\n"


class _Part(NamedTuple):
    """A window of a sentence, and the sentence's index among those given."""

    sentence_index: int
    sentence: Sentence
    window: Window

    def tokens(self) -> list[str]:
        return self.sentence.tokens[self.window.start : self.window.end]


def embed_windows(
    model: VectorModel,
    sizes: BatchSizes,
    sentences: Sequence[Sentence],
    compute: Compute | None = None,
) -> Iterator[tuple[int, Window, np.ndarray]]:
    """
    The windows of sentences, each with the sentence's index and the vectors of its
    tokens `first` to `last`, [L+1, T, D] or [T, D]; windows of similar length are
    computed together. `compute` is from `workers`; by default this process computes.
    """
    parts = []
    for index, sentence in enumerate(sentences):
        for window in windows(
            len(sentence.tokens), limit=sizes.max_length, overlap=sizes.overlap
        ):
            parts.append(_Part(index, sentence, window))
    batches = []
    for indices in batches_by_length(
        [part.window.end - part.window.start for part in parts],
        batch_size=sizes.batch_size,
        max_tokens=sizes.max_tokens,
    ):
        batches.append([parts[index] for index in indices])
    texts = []
    names = []
    for batch in batches:
        texts.append([part.tokens() for part in batch])
        names.append([part.sentence.name for part in batch])
    if compute is None:
        compute = partial(map, model.vectors)
    computed = compute(texts, names)
    for batch, vectors in zip(batches, computed, strict=True):  # [L, B, T, D]
        for row, (index, _, window) in enumerate(batch):
            first = window.first - window.start
            last = window.last - window.start
            own = vectors[:, row, first:last]  # [L, T, D]
            yield index, window, own if model.has_layers else own[0]


def embed_into(
    arrays: Sequence[np.ndarray],
    model: VectorModel,
    sizes: BatchSizes,
    sentences: Sequence[Sentence],
    progress: Callable[[int], Any] = lambda tokens: None,
) -> None:
    """
    Write the vectors of sentences to arrays of `model.shape`, [L+1, T, D] or [T, D].
    `progress` is called with numbers of tokens.
    """
    for index, window, vectors in embed_windows(model, sizes, sentences):
        arrays[index][..., window.first : window.last, :] = vectors
        progress(window.last - window.first)


def blocks(
    sentences: Iterable[Sentence], sizes: BatchSizes
) -> Iterator[list[Sentence]]:
    """
    Blocks of sentences, each large enough to fill several batches, so that batches can
    be sorted by length within a block, and small enough for the memory.
    """
    block: list[Sentence] = []
    tokens = 0
    for sentence in sentences:
        block.append(sentence)
        tokens += len(sentence.tokens)
        is_full = tokens >= _BLOCK_BATCHES * sizes.max_tokens
        if is_full or len(block) == _BLOCK_SENTENCES:
            yield block
            block = []
            tokens = 0
    if block:
        yield block


@contextmanager
@checked
def workers(model: VectorModel, count: Size) -> Iterator[Compute | None]:
    """What computes batches in `count` processes, for `embed_windows`; `None` for 1."""
    if count == 1:
        yield None
        return
    threads = max(1, torch.get_num_threads() // count)
    with tempfile.TemporaryDirectory() as folder, processes(count) as pool:
        # Models can be larger than what a process that has just started can be sent.
        file = Path(folder) / "model.pickle"
        file.write_bytes(pickle.dumps(model))
        yield partial(pool.map, partial(_vectors_in_worker, file, threads))


def _vectors_in_worker(
    file: Path, threads: int, sentences: list[list[str]], names: list[str]
) -> np.ndarray:
    """In a worker: `VectorModel.vectors` of the model in a file, which stays open."""
    return _opened(file, threads).vectors(sentences, names)


@lru_cache(1)
def _opened(file: Path, threads: int) -> VectorModel:
    torch.set_num_threads(threads)
    model: VectorModel = pickle.loads(file.read_bytes())
    return model
