"""
Words -> pieces -> the hidden states of a frozen transformer -> layers of one vector per
word.
"""

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.characters import ids_to_text, token_mask
from elmo_tasks.bilm.precision import PRECISIONS, announced_precision, precision_on
from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.elmo.sources.transformer_files import (
    hidden_states,
    load,
    one_error,
    padding_id,
)
from elmo_tasks.elmo.windows import windows
from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

MAX_TOKENS = 16_384
"""Pieces with padding of a batch, which bounds the memory."""

_CPU_BATCH_SIZE = 8
"""Sequences of a batch on a CPU, where padding costs more than calls."""


@cache  # once for each transformer
def _warn_of_windows(folder: Path, limit: int) -> None:
    message = "%s: a text has more than %d pieces; such texts are read in overlapping "
    logger.warning(message + "windows", folder, limit)


class _PieceSequence(NamedTuple):
    """
    The pieces of a text, or of a window of it, and which words' vectors they give.

    - `ids`, [S]: the pieces, with special tokens.
    - `words`, [W]: the words, as indices into all tokens [B * T] of the texts.
    - `starts`, [W]: the index in `ids` of each word's first piece.
    - `counts`, [W]: the number of each word's pieces, which are next to each other.
    """

    ids: np.ndarray
    words: np.ndarray
    starts: np.ndarray
    counts: np.ndarray


class Transformer(nn.Module):
    """
    The layers of an encoder such as BERT, of the encoder of T5, or of a left-to-right
    model such as GPT-2, in the form in which `BiLM` gives its own.

    Layer 0 is the output of the embeddings, layer k that of block k: Hugging Face's
    `hidden_states`. A word's vector is made from the vectors of its pieces. A word
    without pieces is a zero vector; with most tokenizers, these are empty words and
    words of control characters. The model reads special tokens, but their vectors are
    left out.

    A text of more pieces than the model has positions is read in windows that overlap
    by half. A word's vector is taken from the window in which the word has the most
    context. A word longer than half a window is truncated.

    # Parameters

    - `folder`: a model of the installed transformers, in Hugging Face's format, with
      weights in safetensors.
    - `pieces`: a word's vector is the `mean` of those of its pieces, the `first` or the
      `last`.
    - `precision`: the data type of weights and states, `float32`, `bfloat16` or
      `emulated_bfloat16`, as that of `BiLM`. The layers are in float32.

    Raises `InputError` if a file is missing or invalid, the model's limit leaves no
    room for two pieces, or the model fails on a text.
    """

    state = "reset"
    like: Tensor

    def __init__(
        self, folder: str | Path, *, pieces: str = "mean", precision: str = "float32"
    ) -> None:
        super().__init__()
        self.pieces = pieces
        self._precision = precision
        # The data type of the layers, and their device.
        self.register_buffer("like", torch.zeros(()), persistent=False)
        loaded = load(Path(folder), PRECISIONS[self.precision])
        self.model = loaded.model
        self.n_layers = loaded.n_layers  # L+1, with the layer of the embeddings
        self.output_dim = loaded.width  # the width D of a layer
        self._folder = Path(folder)
        self._tokenizer = loaded.tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        with one_error(self._folder, "load"):
            self._blank = _blank_before_words(self._tokenizer)
            self._before, self._after = _special_tokens(self._tokenizer)
        special = len(self._before) + len(self._after)
        self._limit = loaded.most_pieces - special
        if self._limit < 2:  # windows overlap by half
            problem = f"expected a model that reads at least {special + 2} pieces"
            raise InputError(
                f"{problem} with its {special} special tokens, got"
                f" {loaded.most_pieces} (model_max_length, or its positions)",
                file=folder,
            )
        self._ignores_padding = loaded.ignores_padding

    @property
    def precision(self) -> str:
        """The name of the data type of weights and states."""
        return precision_on(self.like.device, self._precision)

    @property
    def dtype(self) -> torch.dtype:
        """The data type of the layers."""
        return self.like.dtype

    def forward(self, character_ids: Tensor) -> LayerOutput:
        """
        The layers [L+1, B, T, D] and the mask [B, T] of words with ids [B, T, C], as
        from `batch_to_ids`.
        """
        announced_precision(self.like.device, self._precision)
        character_ids = character_ids.cpu()  # the tokenizer's words are made there
        mask = token_mask(character_ids)  # [B, T]
        rows, longest = mask.shape
        layers = self.like.new_zeros(self.n_layers, rows, longest, self.output_dim)
        of_tokens = layers.flatten(1, 2)  # [L+1, B * T, D], of the same memory
        texts = _rows(ids_to_text(character_ids[mask]), mask.sum(1).tolist())
        with one_error(self._folder, "run"):
            sequences = self._sequences(texts, longest)
            for batch in self._batches(sequences):
                self._encode(batch, of_tokens)
        return LayerOutput(layers, mask.to(self.like.device))

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        before = self.precision
        super()._apply(*args, **kwargs)
        if self.precision != before:  # of a CPU and a GPU
            self.model.to(PRECISIONS[self.precision])
        return self

    def _sequences(
        self, texts: list[list[str]], longest: int
    ) -> Iterator[_PieceSequence]:
        """What the model reads for texts of at most `longest` words."""
        if self._blank:
            texts = [_after_blanks(words) for words in texts]
        encodings = self._tokenizer.encode_batch(
            texts, is_pretokenized=True, add_special_tokens=False
        )
        for row, encoding in enumerate(encodings):
            ids = np.array(encoding.ids, int)  # [S]
            word_of_piece = np.array(encoding.word_ids, int)  # [S], from 0, sorted
            if len(ids) > self._limit:
                _warn_of_windows(self._folder, self._limit)
                kept = _index_in_word(word_of_piece) < self._limit // 2
                ids = ids[kept]
                word_of_piece = word_of_piece[kept]
            yield from self._windows(ids, word_of_piece, row * longest)

    def _windows(
        self, ids: np.ndarray, word_of_piece: np.ndarray, first_word: int
    ) -> Iterator[_PieceSequence]:
        """
        The windows of a text's pieces [S]; `first_word` is the index of its first word.
        """
        words, starts, counts = np.unique(
            word_of_piece, return_index=True, return_counts=True
        )  # [W] each
        centres = starts + counts // 2
        for start, end, first, last in windows(
            len(ids), limit=self._limit, overlap=self._limit // 2
        ):
            taken = (first <= centres) & (centres < last)  # [W]
            yield _PieceSequence(
                ids=np.concatenate([self._before, ids[start:end], self._after]),
                words=first_word + words[taken],
                starts=len(self._before) + starts[taken] - start,
                counts=counts[taken],
            )

    def _batches(
        self, sequences: Iterator[_PieceSequence]
    ) -> Iterator[list[_PieceSequence]]:
        """Batches of sequences of similar length; of one if padding is not ignored."""
        listed = list(sequences)
        batch_size = None
        if not self._ignores_padding:
            batch_size = 1
        elif self.like.device.type == "cpu":
            batch_size = _CPU_BATCH_SIZE
        for indices in batches_by_length(
            [len(sequence.ids) for sequence in listed],
            batch_size=batch_size,
            max_tokens=MAX_TOKENS,
        ):
            yield [listed[index] for index in indices]

    def _encode(self, batch: Sequence[_PieceSequence], of_tokens: Tensor) -> None:
        """
        Write the vectors of a batch's words to their rows of the layers [L+1, B * T,
        D].
        """
        ids, mask = _padded(batch, padding_id(self.model))
        layers = hidden_states(self.model, self._tensor(ids), self._tensor(mask).long())
        _, length = ids.shape
        pooled, offsets = _pooled_pieces(batch, length, self.pieces)
        pooled_on_device = self._tensor(pooled)
        offsets_on_device = self._tensor(offsets)
        words = self._tensor(np.concatenate([sequence.words for sequence in batch]))
        for layer, states in zip(of_tokens, layers, strict=True):  # [b, S, D]
            layer[words] = embedding_bag(
                pooled_on_device,
                states.flatten(0, 1).to(self.dtype),
                offsets_on_device,
                mode="mean",
            )

    def _tensor(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(self.like.device)


def _rows(words: list[str], lengths: list[int]) -> list[list[str]]:
    """All words, as the rows of a batch, which have these lengths."""
    rows = []
    start = 0
    for length in lengths:
        rows.append(words[start : start + length])
        start += length
    return rows


def _index_in_word(word_of_piece: np.ndarray) -> np.ndarray:
    """
    The index of each piece in its word, [S], given the numbers of their words, [S].
    """
    first_pieces = np.searchsorted(word_of_piece, word_of_piece)
    return np.arange(len(word_of_piece)) - first_pieces


def _padded(
    batch: Sequence[_PieceSequence], pad_id: int
) -> tuple[np.ndarray, np.ndarray]:
    """The pieces of sequences with padding [b, S], and their mask [b, S]."""
    length = max([len(sequence.ids) for sequence in batch])
    ids = np.full((len(batch), length), pad_id)
    mask = np.zeros((len(batch), length), bool)
    for row, sequence in enumerate(batch):
        ids[row, : len(sequence.ids)] = sequence.ids
        mask[row, : len(sequence.ids)] = True
    return ids, mask


def _pooled_pieces(
    batch: Sequence[_PieceSequence], length: int, pieces: str
) -> tuple[np.ndarray, np.ndarray]:
    """
    Which pieces make each word's vector, as `embedding_bag` takes it.

    The hidden states of a batch are a table [b * S, D]: row `r * S + s` is that of
    piece s of sequence r, and S is `length`. `pooled` [N] lists the rows of all words,
    one word after the other; those of word w begin at `offsets[w]` and end where the
    next word's begin. The word's vector is their mean. `offsets` is [W].

    For example, one sequence with the three words "unloading the harbours":

        row     0      1   2       3      4    5        6    7
        piece   [CLS]  un  ##load  ##ing  the  harbour  ##s  [SEP]

        pieces  pooled             offsets
        mean    1, 2, 3, 4, 5, 6   0, 3, 4
        first   1, 4, 5            0, 1, 2
        last    3, 4, 6            0, 1, 2
    """
    starts = np.concatenate(
        [row * length + sequence.starts for row, sequence in enumerate(batch)]
    )  # [W]
    counts = np.concatenate([sequence.counts for sequence in batch])  # [W]
    if pieces == "last":
        starts = starts + counts - 1
    if pieces != "mean":
        counts = np.ones_like(counts)
    offsets = np.cumsum(counts) - counts  # [W]
    index_in_word = np.arange(counts.sum()) - np.repeat(offsets, counts)  # [N]
    pooled = np.repeat(starts, counts) + index_in_word  # [N]
    return pooled, offsets


def _special_tokens(tokenizer: Any) -> tuple[np.ndarray, np.ndarray]:
    """The ids of the special tokens before and after a text's pieces."""
    encoding = tokenizer.encode(["a"], is_pretokenized=True)
    ids = np.array(encoding.ids, int)
    of_word = []
    for index, word in enumerate(encoding.word_ids):
        if word is not None:
            of_word.append(index)
    if not of_word:  # this word has no piece
        middle = (len(ids) + 1) // 2
        return ids[:middle], ids[middle:]
    return ids[: of_word[0]], ids[of_word[-1] + 1 :]


def _blank_before_words(tokenizer: Any) -> bool:
    """
    Whether each word must be given with a blank before it, for its pieces to be those
    that it has in a text. Most tokenizers mark where a word begins, or are set to.
    """
    if hasattr(tokenizer.pre_tokenizer, "add_prefix_space"):  # that of RoBERTa or GPT-2
        tokenizer.pre_tokenizer.add_prefix_space = True
    in_text = tokenizer.encode("a a", add_special_tokens=False).ids
    if in_text == _ids_of_words(tokenizer, ["a", "a"]):
        return False
    second = _ids_of_words(tokenizer, [" a"])
    return in_text[-len(second) :] == second


def _ids_of_words(tokenizer: Any, words: list[str]) -> list[int]:
    encoding = tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
    ids: list[int] = encoding.ids
    return ids


def _after_blanks(words: list[str]) -> list[str]:
    """The words with a blank before each that is not empty."""
    found = []
    for word in words:
        found.append(f" {word}" if word else word)
    return found
