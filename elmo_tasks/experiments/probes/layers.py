"""Sentences -> the frozen layers of all their tokens, in the order of the text and within bounded memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from elmo_tasks.bilm.bilm import BiLMOutput
from elmo_tasks.bilm.characters import MOST_CHARACTERS, batch_to_ids
from elmo_tasks.elmo import sources
from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.errors import InputError

BLOCK_TOKENS = 16_384
"""Tokens per block, exceeded by at most a sentence."""

BATCH_TOKENS = 2_048
"""Tokens per batch, with padding. Changes the last bits of a vector, so it is not an option."""

MAX_SENTENCE = 5_000
"""Longer sentences are rejected: a file without line ends is not a list of sentences."""

CPU = torch.device("cpu")

Encode = Callable[[Tensor], BiLMOutput]
"""Character ids [B, T, C] -> layers [L+1, B, T, D] and mask [B, T]: a `BiLM` or anything with its signature."""


class FrozenEncoder(NamedTuple):
    """A source of layers, and its name in tables (`biLM`, `transformer`)."""

    encode: Encode
    name: str

    @classmethod
    def of(
        cls,
        layers: sources.LayerSource,
        files: sources.SourceFiles,
        device: torch.device = CPU,
    ) -> "FrozenEncoder":
        """What was opened; layers are computed on the device, and kept on the CPU."""
        placed = layers if device == CPU else layers.to(device)

        def encode(ids: Tensor) -> BiLMOutput:
            return BiLMOutput(*(tensor.cpu() for tensor in placed(ids.to(device))))

        return cls(encode, files.label)

    def n_layers(self) -> int:
        """The number of layers (L+1)."""
        with torch.inference_mode():
            return len(self.encode(batch_to_ids([["a"]])).layers)


class Block(NamedTuple):
    """The layers of consecutive sentences with N tokens, and the index of each sentence's first token in the block."""

    starts: list[int]
    layers: Tensor  # [L+1, N, D]


def encode_blocks(
    encode: Encode,
    sentences: Iterable[Sequence[str]],
    *,
    what: str = "",
    block_tokens: int = BLOCK_TOKENS,
    batch_tokens: int = BATCH_TOKENS,
) -> Iterator[Block]:
    """
    All layers of all sentences, bitwise reproducible for one `batch_tokens`. Sentences of similar length within a block
    share a batch. They are read lazily; `what` is the label of a progress bar.
    """
    with tqdm(
        desc=what, unit=" tokens", unit_scale=True, disable=None, leave=False
    ) as progress:
        for block in blocks(sentences, tokens=block_tokens):
            yield Block(*_encode(encode, block, max_tokens=batch_tokens))
            progress.update(sum(map(len, block)))


def blocks(
    sentences: Iterable[Sequence[str]], *, tokens: int = BLOCK_TOKENS
) -> Iterator[list[Sequence[str]]]:
    """
    Consecutive sentences in lists of `tokens` tokens or slightly more. Raises `InputError` for a long sentence.
    """
    block: list[Sequence[str]] = []
    length = 0
    for words in sentences:
        if len(words) > MAX_SENTENCE:
            start = " ".join(words[:8])
            problem = f"expected sentences of at most {MAX_SENTENCE:,} tokens, got one of {len(words):,}: {start} ..."
            raise InputError(problem, hint="write one sentence per line")
        block.append(words)
        length += len(words)
        if length >= tokens:
            yield block
            block, length = [], 0
    if block:
        yield block


@torch.inference_mode()
def _encode(
    encode: Encode, sentences: list[Sequence[str]], *, max_tokens: int
) -> tuple[list[int], Tensor]:
    """The start of each sentence, and all layers [L+1, N, D]."""
    lengths = torch.tensor([len(sentence) for sentence in sentences])  # [B]
    starts = lengths.cumsum(0) - lengths  # [B]
    flat = torch.empty(0)
    for places in batches_by_length(lengths.tolist(), max_tokens=max_tokens):
        layers, mask = encode(
            batch_to_ids(
                [list(sentences[place]) for place in places], longest=MOST_CHARACTERS
            )
        )
        if not len(flat):
            flat = layers.new_empty(
                (layers.shape[0], int(lengths.sum()), layers.shape[3])
            )
        to = starts[places][:, None] + torch.arange(mask.shape[1])  # [B, T]
        flat[:, to[mask]] = layers[:, mask]
    return starts.tolist(), flat


def all_layers(
    encoder: FrozenEncoder, sentences: Iterable[Sequence[str]]
) -> np.ndarray:
    """All layers of all tokens: float16, [L+1, N, D]. Raises `InputError` as `to_half` does."""
    blocks = encode_blocks(encoder.encode, sentences, what="encoding")
    return np.concatenate([to_half(block.layers).numpy() for block in blocks], 1)


def to_half(layers: Tensor) -> Tensor:
    """The same in float16. Raises `InputError` if a value is too large for it or not a number."""
    half = layers.half()
    if not torch.isfinite(half).all():
        raise InputError(
            "the layers have values outside the range of float16: are these the right weights?"
        )
    return half
