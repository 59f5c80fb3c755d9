"""
Words -> pieces -> the hidden states of a frozen transformer -> layers of one vector per
word.
"""

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag
from torch.nn.utils.rnn import pad_sequence

from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.bilm.characters import ids_to_text, token_mask
from elmo_tasks.bilm.packed_sequence import batches_by_length
from elmo_tasks.bilm.precision import PRECISIONS, announced_precision, precision_on
from elmo_tasks.elmo.sources.transformer_files import (
    hidden_states,
    load,
    one_error,
    padding_id,
)

logger = logging.getLogger(__name__)

MAX_TOKENS = 16_384
"""Pieces with padding of a batch, which bounds the memory."""

_CPU_BATCH_SIZE = 8
"""Sequences of a batch on a CPU, where padding costs more than calls."""


@cache  # once for each transformer
def _warn_of_windows(folder: Path, limit: int) -> None:
    message = "%s: a text has more than %d pieces; such texts are read in overlapping "
    logger.warning(message + "windows", folder, limit)


class _Window(NamedTuple):
    """
    The pieces of a text, or of a part of it, with special tokens, and the words whose
    vectors they give: for each word, as an index into all tokens [B * T] of the texts,
    the places of its pieces.
    """

    ids: list[int]
    words: dict[int, list[int]]


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
    context.

    # Parameters

    - `folder`: a model of the installed transformers, in Hugging Face's format, with
      weights in safetensors.
    - `pieces`: a word's vector is the `mean` of those of its pieces, the `first` or the
      `last`.
    - `precision`: the data type of weights and states, `float32`, `bfloat16` or
      `emulated_bfloat16`, as that of `BiLM`. The layers are in float32.

    Raises `InputError` with the folder and Hugging Face's message if the model cannot
    be loaded, or fails on a text.
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
        self._blank = loaded.blank
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
        words = iter(ids_to_text(character_ids[mask]))
        texts = [list(islice(words, length)) for length in mask.sum(1).tolist()]
        with one_error(self._folder, "run"):
            for batch in self._batches(self._windows(texts, longest)):
                self._encode(batch, of_tokens)
        return LayerOutput(layers, mask.to(self.like.device))

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        before = self.precision
        super()._apply(*args, **kwargs)
        if self.precision != before:  # of a CPU and a GPU
            self.model.to(PRECISIONS[self.precision])
        return self

    def _windows(self, texts: list[list[str]], longest: int) -> list[_Window]:
        """What the model reads for texts of at most `longest` words."""
        if self._blank:
            texts = [[word and f" {word}" for word in words] for words in texts]
        found = []
        encodings = self._tokenizer.encode_batch(texts, is_pretokenized=True)
        for row, encoding in enumerate(encodings):
            parts = [encoding, *encoding.overflowing]
            if len(parts) > 1:
                _warn_of_windows(self._folder, len(encoding.ids))
            words = _words_of([part.word_ids for part in parts], row * longest)
            for part, taken in zip(parts, words, strict=True):
                if taken:
                    found.append(_Window(part.ids, taken))
        return found

    def _batches(self, windows: list[_Window]) -> Iterator[list[_Window]]:
        """Batches of windows of similar length; of one if padding is not ignored."""
        batch_size = None
        if not self._ignores_padding:
            batch_size = 1
        elif self.like.device.type == "cpu":
            batch_size = _CPU_BATCH_SIZE
        for indices in batches_by_length(
            [len(window.ids) for window in windows],
            batch_size=batch_size,
            max_tokens=MAX_TOKENS,
        ):
            yield [windows[index] for index in indices]

    def _encode(self, batch: Sequence[_Window], of_tokens: Tensor) -> None:
        """
        Write the vectors of a batch's words to their rows of the layers [L+1, B * T,
        D].
        """
        rows = [torch.tensor(window.ids) for window in batch]
        ids = pad_sequence(rows, batch_first=True, padding_value=padding_id(self.model))
        mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        device = self.like.device
        layers = hidden_states(self.model, ids.to(device), mask.to(device))
        words, pooled, offsets = [
            numbers.to(device)
            for numbers in _pooled_pieces(batch, ids.shape[1], self.pieces)
        ]
        for layer, states in zip(of_tokens, layers, strict=True):  # [b, S, D]
            layer[words] = embedding_bag(
                pooled, states.flatten(0, 1).to(self.dtype), offsets, mode="mean"
            )


def _words_of(
    word_ids: list[list[int | None]], first_word: int
) -> list[dict[int, list[int]]]:
    """
    The words that are taken from each window of a text, with the places of their
    pieces: each from the window in which it has most context, not counting the ends of
    the text. `word_ids` are the words of the pieces in each window, `None` for special
    tokens; `first_word` is the number of the text's first word.
    """
    windows = []
    best: dict[int, tuple[int, int]] = {}  # the context, and minus the window's number
    for number, words in enumerate(word_ids):
        places: dict[int, list[int]] = {}
        for place, word in enumerate(words):
            if word is not None:
                places.setdefault(first_word + word, []).append(place)
        for word, own in places.items():
            context = min(own[0], len(words) - 1 - own[-1])
            best[word] = max(best.get(word, (-1, 0)), (context, -number))
        windows.append(places)
    taken = []
    for number, places in enumerate(windows):
        taken.append(
            {word: places[word] for word in places if best[word][1] == -number}
        )
    return taken


def _pooled_pieces(
    batch: Sequence[_Window], length: int, pieces: str
) -> tuple[Tensor, Tensor, Tensor]:
    """
    Words [W], and which pieces make their vectors, as `embedding_bag` takes it.

    The hidden states of a batch are a table [b * S, D]: row `r * S + s` is that of
    piece s of window r, and S is `length`. `pooled` [N] lists the rows of all words,
    one word after the other; those of word w begin at `offsets[w]` and end where the
    next word's begin. The word's vector is their mean.

    For example, one window with the three words "unloading the harbours":

        row     0      1   2       3      4    5        6    7
        piece   [CLS]  un  ##load  ##ing  the  harbour  ##s  [SEP]

        pieces  pooled             offsets
        mean    1, 2, 3, 4, 5, 6   0, 3, 4
        first   1, 4, 5            0, 1, 2
        last    3, 4, 6            0, 1, 2
    """
    chosen = {"mean": slice(None), "first": slice(1), "last": slice(-1, None)}[pieces]
    words: list[int] = []
    pooled: list[int] = []
    offsets = []
    for row, window in enumerate(batch):
        for word, places in window.words.items():
            words.append(word)
            offsets.append(len(pooled))
            pooled += [row * length + place for place in places[chosen]]
    return torch.tensor(words), torch.tensor(pooled), torch.tensor(offsets)
