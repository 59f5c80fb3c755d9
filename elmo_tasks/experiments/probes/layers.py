"""Sentences -> the frozen layers of all their tokens, in the order of the text and within bounded memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

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

Encoder = Callable[[Tensor], BiLMOutput]
"""Character ids [B, T, C] -> layers [L+1, B, T, D] and mask [B, T]: a `BiLM` or anything with its signature."""

Item = TypeVar("Item")


class Source(NamedTuple):
    """A frozen encoder, its name in tables (`biLM`, `CoVe`, `transformer`), and the SHA-256 of its files."""

    encoder: Encoder
    name: str
    options_sha256: str
    weights_sha256: str
    pieces: str | None = None  # how a transformer pools them

    @classmethod
    def of(cls, layers: sources.LayerSource, files: sources.SourceFiles, device: torch.device = CPU) -> "Source":
        """What was opened; layers are computed on the device, and kept on the CPU."""
        placed = layers if device == CPU else layers.to(device)

        def encoder(ids: Tensor) -> BiLMOutput:
            return BiLMOutput(*(tensor.cpu() for tensor in placed(ids.to(device))))

        digests = files.auxiliary_file.sha256, files.weight_file.sha256
        return cls(encoder, files.label, *digests, getattr(layers, "pieces", None))

    def shape(self) -> tuple[int, int]:
        """The number of layers (L+1) and their width (D)."""
        with torch.inference_mode():
            layers = self.encoder(batch_to_ids([["a"]])).layers
        return layers.shape[0], layers.shape[3]


class Block(NamedTuple, Generic[Item]):
    """Consecutive items with N tokens, the index of each item's first token in the block, and their layers."""

    items: list[Item]
    starts: list[int]
    layers: Tensor  # [L+1, N, D]


def encode_blocks(
    encoder: Encoder, items: Iterable[Item], *, words: Callable[[Item], Sequence[str]], what: str = ""
) -> Iterator[Block[Item]]:
    """
    All layers of all items, bitwise reproducible. Sentences of similar length within a block share a batch. Items are
    read lazily; `words` gives the tokens of one, `what` is the label of a progress bar.
    """
    with tqdm(desc=what, unit=" tokens", unit_scale=True, disable=None, leave=False) as progress:
        for block in blocks(items, words=words):
            sentences = [words(item) for item in block]
            yield Block(block, *_encode(encoder, sentences))
            progress.update(sum(map(len, sentences)))


def blocks(items: Iterable[Item], *, words: Callable[[Item], Sequence[str]]) -> Iterator[list[Item]]:
    """Consecutive items in lists of `BLOCK_TOKENS` tokens or slightly more. Raises `InputError` for a long sentence."""
    block: list[Item] = []
    tokens = 0
    for item in items:
        length = len(words(item))
        if length > MAX_SENTENCE:
            start = " ".join(words(item)[:8])
            problem = f"expected sentences of at most {MAX_SENTENCE:,} tokens, got one of {length:,}: {start} ..."
            raise InputError(problem, hint="write one sentence per line")
        block.append(item)
        tokens += length
        if tokens >= BLOCK_TOKENS:
            yield block
            block, tokens = [], 0
    if block:
        yield block


@torch.inference_mode()
def _encode(encoder: Encoder, sentences: list[Sequence[str]]) -> tuple[list[int], Tensor]:
    """The start of each sentence, and all layers [L+1, N, D]."""
    lengths = torch.tensor([len(sentence) for sentence in sentences])  # [B]
    starts = lengths.cumsum(0) - lengths  # [B]
    flat = torch.empty(0)
    for places in batches_by_length(lengths.tolist(), max_tokens=BATCH_TOKENS):
        layers, mask = encoder(batch_to_ids([list(sentences[place]) for place in places], longest=MOST_CHARACTERS))
        if not len(flat):
            flat = layers.new_empty((layers.shape[0], int(lengths.sum()), layers.shape[3]))
        to = starts[places][:, None] + torch.arange(mask.shape[1])  # [B, T]
        flat[:, to[mask]] = layers[:, mask]
    return starts.tolist(), flat


def to_half(layers: Tensor) -> Tensor:
    """The same in float16. Raises `InputError` if a value is too large for it or not a number."""
    half = layers.half()
    if not torch.isfinite(half).all():
        raise InputError("the layers have values outside the range of float16: are these the right weights?")
    return half
