"""
Sentences of any number and length -> batches of windows -> their vectors.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from elmo_tasks.bilm.packed_sequence import batches_by_length
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError
from elmo_tasks.option_values import BatchSizes
from elmo_tasks.system.terminal import terminal_bar

_UNIT = {"unit": " tokens", "unit_scale": True}


def progress_bar(total: int | None = None, *, visible: bool = True) -> tqdm:
    """A bar of tokens, to be used in a `with`; `update(tokens)` moves it."""
    return tqdm(total=total, disable=not visible, **_UNIT)


def token_bar() -> tqdm:
    """The same on a terminal alone, for commands."""
    return terminal_bar(**_UNIT)


class Window(NamedTuple):
    """
    The tokens `start` to `end` of a sentence, which are encoded together. The vectors
    of `first` to `last` are taken from this window. `end` and `last` are not included.
    """

    start: int
    end: int
    first: int
    last: int


def windows(length: int, *, limit: int, overlap: int) -> list[Window]:
    """
    Split a sentence of `length` tokens into windows of `limit` tokens. A sentence that
    fits has one window, an empty sentence has none.

    Neighbours share `overlap` tokens; the last two may share more, since the last
    window ends with the sentence. Each takes its half of what they share: a token's
    vector is from the window in which it has most context, not counting the ends of the
    sentence.
    """
    if length == 0:
        return []
    if length <= limit:
        return [Window(0, length, 0, length)]
    last_start = length - limit
    starts = list(range(0, last_start, limit - overlap))
    starts.append(last_start)
    parts = []
    first = 0
    for start, next_start in pairwise(starts):
        end = start + limit
        middle = (next_start + end + 1) // 2
        parts.append(Window(start, end, first, middle))
        first = middle
    parts.append(Window(last_start, length, first, length))
    return parts


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


def parsed(
    lines: Iterable[tuple[str, int, Line]], parse: Callable[[str], list[str]]
) -> Iterator[Sentence]:
    """
    The sentences of lines, each with its file and number; `parse` splits text into
    tokens. Raises `InputError` for an invalid one.
    """
    for file, number, line in lines:
        try:
            if isinstance(line, list):
                text = " ".join(line)
                tokens = line
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
) -> Iterator[tuple[int, Window, np.ndarray]]:
    """
    The windows of sentences, each with the sentence's index and the vectors of its
    tokens `first` to `last`, [L+1, T, D] or [T, D]; windows of similar length are
    computed together.
    """
    parts = []
    for index, sentence in enumerate(sentences):
        for window in windows(
            len(sentence.tokens), limit=sizes.max_length, overlap=sizes.overlap
        ):
            parts.append(_Part(index, sentence, window))
    for indices in batches_by_length(
        [part.window.end - part.window.start for part in parts],
        batch_size=sizes.batch_size,
        max_tokens=sizes.max_tokens,
    ):
        batch = [parts[index] for index in indices]
        texts = [part.tokens() for part in batch]
        names = [part.sentence.name for part in batch]
        vectors = model.vectors(texts, names)  # [L, B, T, D]
        for row, (index, _, window) in enumerate(batch):
            first = window.first - window.start
            own = vectors[:, row, first : window.last - window.start]  # [L, T, D]
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


def stream_of_arrays(
    model: VectorModel, sizes: BatchSizes, words: Iterable[list[str]]
) -> Iterator[np.ndarray]:
    """As `arrays_of`, of any number of sentences; one block of them is in memory."""
    for block in blocks(named(words), sizes):
        yield from arrays_of(model, sizes, block)


def named(words: Iterable[list[str]]) -> Iterator[Sentence]:
    """Sentences, which errors name by their numbers."""
    for number, one in enumerate(words, start=1):
        yield Sentence("", one, f"line {number}")


def arrays_of(
    model: VectorModel,
    sizes: BatchSizes,
    sentences: Sequence[Sentence],
    progress: Callable[[int], Any] = lambda tokens: None,
) -> list[np.ndarray]:
    """
    The vectors of each of N sentences, float32, [L+1, T, D] or [T, D]. `progress` is
    called with numbers of tokens.
    """
    arrays = []
    for sentence in sentences:
        arrays.append(np.empty(model.shape(len(sentence.tokens)), np.float32))
    embed_into(arrays, model, sizes, sentences, progress)
    return arrays
