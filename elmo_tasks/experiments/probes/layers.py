"""
Sentences -> the frozen layers of all their tokens, in the order of the text and within
bounded memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.elmo.batching import Sentence, embed_into
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.vector_model import VectorModel
from elmo_tasks.errors import InputError
from elmo_tasks.option_values import BatchSizes
from elmo_tasks.system.terminal import terminal_bar

BLOCK_TOKENS = 16_384
"""Tokens per block, exceeded by at most a sentence."""

BATCH_TOKENS = 2_048
"""
Tokens per batch, with padding. Changes the last bits of a vector, so it is not an
option.
"""

MAX_SENTENCE = 5_000
"""
Longer sentences are rejected: a file without line ends is not a list of sentences.
"""


class Block(NamedTuple):
    """The layers of consecutive sentences with N tokens."""

    starts: list[int]  # each sentence's first token among the N
    layers: Tensor  # [L+1, N, D], float32, on the CPU


def encode_blocks(
    layers: Layers,
    sentences: Iterable[Sequence[str]],
    *,
    what: str = "",
    block_tokens: int = BLOCK_TOKENS,
    batch_tokens: int = BATCH_TOKENS,
) -> Iterator[Block]:
    """
    All layers of all sentences, bitwise reproducible for one `batch_tokens`. Sentences
    of similar length within a block share a batch. They are read lazily; `what` is the
    label of a progress bar.
    """
    model = VectorModel(layers=layers)
    sizes = BatchSizes(
        max_length=MAX_SENTENCE, batch_size=batch_tokens, max_tokens=batch_tokens
    )
    with terminal_bar(
        desc=what, unit=" tokens", unit_scale=True, leave=False
    ) as progress:
        for block in blocks(sentences, tokens=block_tokens):
            yield _encode(model, sizes, block)
            progress.update(sum([len(words) for words in block]))


def blocks(
    sentences: Iterable[Sequence[str]], *, tokens: int = BLOCK_TOKENS
) -> Iterator[list[Sequence[str]]]:
    """
    Consecutive sentences in lists of `tokens` tokens or slightly more. Raises
    `InputError` for a long sentence.
    """
    block: list[Sequence[str]] = []
    length = 0
    for words in sentences:
        if len(words) > MAX_SENTENCE:
            start = " ".join(words[:8])
            raise InputError(
                f"expected sentences of at most {MAX_SENTENCE:,} tokens, "
                f"got one of {len(words):,}: {start} ...",
                hint="write one sentence per line",
            )
        block.append(words)
        length += len(words)
        if length >= tokens:
            yield block
            block = []
            length = 0
    if block:
        yield block


def _encode(
    model: VectorModel, sizes: BatchSizes, sentences: list[Sequence[str]]
) -> Block:
    """The layers of a block, those of all sentences one after the other."""
    tokens = sum([len(words) for words in sentences])
    flat = np.empty(model.shape(tokens), np.float32)  # [L+1, N, D]
    starts = []
    arrays = []
    named = []
    end = 0
    for words in sentences:
        start = end
        end += len(words)
        starts.append(start)
        arrays.append(flat[:, start:end])
        named.append(Sentence("", list(words), f"the sentence {' '.join(words[:8])}"))
    embed_into(arrays, model, sizes, named)
    return Block(starts, torch.from_numpy(flat))


def all_layers(layers: Layers, sentences: Iterable[Sequence[str]]) -> np.ndarray:
    """
    All layers of all N tokens: float16, [L+1, N, D]. Raises `InputError` as `to_half`
    does.
    """
    halves = []
    for block in encode_blocks(layers, sentences, what="encoding"):
        halves.append(to_half(block.layers).numpy())
    return np.concatenate(halves, 1)


def to_half(layers: Tensor) -> Tensor:
    """
    The same in float16. Raises `InputError` if a value is too large for it or not a
    number.
    """
    half = layers.half()
    if not torch.isfinite(half).all():
        raise InputError(
            "the layers have values outside the range of float16: "
            "are these the right weights?"
        )
    return half
