"""Words -> pieces -> the hidden states of a frozen transformer -> layers of one vector per word."""

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.characters import ids_to_text, token_mask
from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.elmo.transformer_files import load
from elmo_tasks.elmo.windows import windows

logger = logging.getLogger(__name__)

MAX_TOKENS = 16_384
"""Pieces with padding of a batch, which bounds the memory."""


@cache  # once for each transformer
def _warn_of_windows(folder: str, limit: int) -> None:
    logger.warning(
        "%s: a text has more than %d pieces; such texts are read in overlapping windows",
        folder,
        limit,
    )


class _Sequence(NamedTuple):
    """A text or a window of it."""

    ids: np.ndarray  # [S], with special tokens
    words: (
        np.ndarray
    )  # [W], the words that are taken from it, as indices into the flattened batch
    starts: np.ndarray  # [W], their first pieces
    counts: (
        np.ndarray
    )  # [W], the numbers of their pieces, which follow each other without gaps


class Transformer(nn.Module):
    """
    The layers of an encoder such as BERT, or of a left-to-right model such as GPT-2, as `BiLM` computes them.

    Layer 0 is the output of the embeddings, layer k that of block k: Hugging Face's `hidden_states`. Words without a
    piece are zeros: with most tokenizers empty words, and words of control characters. Special tokens are read by the
    model, but have no vectors.

    A text of more pieces than the model has positions is read in windows that overlap by half. A word is taken from
    the window in which it has most context, and words of more than half a window are cut there.

    `folder` is in Hugging Face's format. `pieces` is `mean`, `first` or `last`; `precision` is the data type of weights
    and states, `float32` or `bfloat16`, where the layers are in float32. Raises `InputError` if a file is missing or
    invalid.
    """

    state = "reset"
    like: Tensor

    def __init__(
        self, folder: str | Path, *, pieces: str = "mean", precision: str = "float32"
    ) -> None:
        super().__init__()
        self.pieces, self.precision, self._folder = pieces, precision, str(folder)
        self.model, tokenizer = load(Path(folder), getattr(torch, precision))
        self._tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._before, self._after = _special_tokens(self._tokenizer)
        self._limit = (
            _positions(self.model, tokenizer) - len(self._before) - len(self._after)
        )
        self.register_buffer(
            "like", torch.zeros(()), persistent=False
        )  # the layers' data type and device

    @property
    def output_dim(self) -> int:
        return int(self.model.config.hidden_size)

    @property
    def n_layers(self) -> int:
        return int(self.model.config.num_hidden_layers) + 1

    @property
    def dtype(self) -> torch.dtype:
        return self.like.dtype

    def forward(self, character_ids: Tensor) -> LayerOutput:
        """The layers [L+1, B, T, D] of words with ids [B, T, C], as from `batch_to_ids`."""
        character_ids = character_ids.cpu()  # the tokenizer's words are made there
        mask = token_mask(character_ids)  # [B, T]
        layers = self.like.new_zeros(
            self.n_layers, *mask.shape, self.output_dim
        )  # [L+1, B, T, D]
        sequences = list(
            self._sequences(
                ids_to_text(character_ids[mask]), mask.sum(1).tolist(), mask.shape[1]
            )
        )
        lengths = [len(sequence.ids) for sequence in sequences]
        few = (
            8 if self.like.device.type == "cpu" else None
        )  # on a CPU, padding costs more than calls
        for places in batches_by_length(lengths, batch_size=few, max_tokens=MAX_TOKENS):
            self._encode([sequences[place] for place in places], layers.flatten(1, 2))
        return LayerOutput(layers, mask.to(self.like.device))

    def _sequences(
        self, words: list[str], lengths: list[int], width: int
    ) -> Iterator[_Sequence]:
        """What the model reads for texts of these lengths, of which `words` are all words."""
        ends = np.cumsum(lengths)
        texts = [
            words[end - length : end] for end, length in zip(ends, lengths, strict=True)
        ]
        encodings = self._tokenizer.encode_batch(
            texts, is_pretokenized=True, add_special_tokens=False
        )
        for row, encoding in enumerate(encodings):
            ids, of_word = np.array(encoding.ids, int), np.array(encoding.word_ids, int)
            if len(ids) > self._limit:
                kept = (
                    np.arange(len(ids)) - np.searchsorted(of_word, of_word)
                    < self._limit // 2
                )
                ids, of_word = ids[kept], of_word[kept]
                _warn_of_windows(self._folder, self._limit)
            found, starts, counts = np.unique(
                of_word, return_index=True, return_counts=True
            )
            centres = starts + counts // 2
            for start, end, first, last in windows(
                len(ids), limit=self._limit, overlap=self._limit // 2
            ):
                taken = (first <= centres) & (centres < last)
                places = starts[taken] - start + len(self._before)
                framed = np.concatenate([self._before, ids[start:end], self._after])
                yield _Sequence(
                    framed, row * width + found[taken], places, counts[taken]
                )

    def _encode(self, batch: Sequence[_Sequence], layers: Tensor) -> None:
        """Write the vectors of a batch's words to the layers [L+1, B * T, D]."""
        length = max(len(sequence.ids) for sequence in batch)
        mask = np.arange(length) < np.array(
            [[len(sequence.ids)] for sequence in batch]
        )  # [b, S]
        ids = np.full(mask.shape, max(0, self.model.config.pad_token_id or 0))  # [b, S]
        ids[mask] = np.concatenate([sequence.ids for sequence in batch])
        starts = np.concatenate(
            [row * length + sequence.starts for row, sequence in enumerate(batch)]
        )
        counts = np.concatenate([sequence.counts for sequence in batch])
        if self.pieces != "mean":
            starts, counts = (
                starts + (counts - 1) * (self.pieces == "last"),
                np.ones_like(counts),
            )
        offsets = np.cumsum(counts) - counts
        pooled = np.repeat(starts - offsets, counts) + np.arange(counts.sum())
        words = self._tensor(np.concatenate([sequence.words for sequence in batch]))
        bags = self._tensor(pooled), self._tensor(offsets)
        inputs = {
            "input_ids": self._tensor(ids),
            "attention_mask": self._tensor(mask).long(),
        }
        states = self.model(**inputs, output_hidden_states=True).hidden_states
        for layer, state in zip(layers, states, strict=True):
            layer[words] = embedding_bag(
                bags[0], state.flatten(0, 1).to(self.dtype), bags[1], mode="mean"
            )

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.like.device)


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids before and after a text's pieces."""
    encoding = tokenizer.encode(["a"], is_pretokenized=True)
    pieces = [place for place, word in enumerate(encoding.word_ids) if word is not None]
    start, end = (
        (pieces[0], pieces[-1] + 1) if pieces else [(len(encoding.ids) + 1) // 2] * 2
    )
    return encoding.ids[:start], encoding.ids[end:]


def _positions(model: Any, tokenizer: Any) -> int:
    """The most tokens of a text. RoBERTa's positions begin after that of padding."""
    embeddings = getattr(
        getattr(model, "embeddings", None), "position_embeddings", None
    )
    reserved = getattr(embeddings, "padding_idx", None)
    positions = int(
        getattr(model.config, "max_position_embeddings", tokenizer.model_max_length)
    )
    return min(
        positions - (0 if reserved is None else reserved + 1),
        int(tokenizer.model_max_length),
    )
