"""
Text -> batches of the language model: the official data stream of bilm-tf.

Two sources of sentences that are shuffled apart feed a forward and a backward grid of B rows. A row is an endless
text: it takes T tokens a batch from its current sentence and pulls the next one when that is used up, so that nothing
is padded and the LSTM states of one batch begin the next (truncated back-propagation; paper, section 3.4).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count, repeat
from typing import NamedTuple

import numpy as np
import torch

from elmo_tasks.bilm.characters import (
    BEGIN_OF_SENTENCE,
    END_OF_SENTENCE,
    MAX_CHARACTERS,
    token_to_ids,
)
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary

_CACHED_TOKENS = 2**17


class TokenWindow(NamedTuple):
    """
    The tokens of one direction in one batch, B rows of exactly T.

    Positions from `lengths[row]` on, where the text ran out, hold `</S>` and count for nothing.
    """

    inputs: list[list[str]]
    targets: list[list[str]]
    lengths: list[int]


class TokenRows:
    """
    One direction of the official stream: an iterator of windows over B rows of running text.

    A sentence is `<S> w1 ... wn </S>` forward and `</S> wn ... w1 <S>` backward; all tokens but its last
    are inputs, all but its first are targets: n+1 predictions. Rows are filled in order, each pulling
    the next sentence when its own is used up. A finite source ends when every row has given all its
    predictions, with the last windows short; of an endless one every row of every window is full.

    # Parameters

    sentences : `Iterator[list[str]]`
        Shared by the rows; never read further than the window needs.
    rows, unroll : `int`
        B and T.
    backward : `bool`
        The direction.
    own : `range`, optional
        The rows that the windows hold, all by default: those of one process of a distributed training. The other rows
        take their sentences all the same, so that a row's text does not depend on the number of processes.

    # Raises

    `InputError` where `rows` or `unroll` is below 1.
    """

    def __init__(
        self, sentences: Iterator[list[str]], *, rows: int, unroll: int, backward: bool, own: range | None = None
    ) -> None:
        for name, value in (("batch_size", rows), ("unroll", unroll)):
            if value < 1:
                raise InputError(f"{name} must be 1 or more, found {value}")
        self._sentences = sentences
        self._unroll = unroll
        self._backward = backward
        self._own = range(rows) if own is None else own
        self._current: list[list[str]] = [[] for _ in range(rows)]
        self._position = [0] * rows

    def __iter__(self) -> "TokenRows":
        return self

    def __next__(self) -> TokenWindow:
        parts = [self._advance(row) for row in range(len(self._current))]
        if not any(parts):
            raise StopIteration
        filled = [_joined(parts[row]) for row in self._own]
        return TokenWindow(
            [self._padded(inputs) for inputs, _ in filled],
            [self._padded(targets) for _, targets in filled],
            [len(inputs) for inputs, _ in filled],
        )

    def blank(self) -> TokenWindow:
        """A window that holds no prediction."""
        nothing = [self._padded([]) for _ in self._own]
        return TokenWindow(nothing, nothing, [0] * len(self._own))

    def remainders(self) -> list[list[str]]:
        """What each of the B rows still holds of its sentence; its first token is the next input."""
        return [row[start:] for row, start in zip(self._current, self._position, strict=True)]

    def resume(self, remainders: list[list[str]]) -> None:
        """
        Go on where another iterator gave its `remainders()`.

        # Raises

        `InputError` where it had another number of rows.
        """
        if len(remainders) != len(self._current):
            rows = f"batch_size {len(remainders)}, this run has {len(self._current)}"
            raise InputError(f"the checkpoint was written with {rows}")
        self._current = [list(row) for row in remainders]
        self._position = [0] * len(remainders)

    def _advance(self, row: int) -> list[tuple[list[str], int, int]]:
        """Move a row on by a window: each sequence that it runs through, its first input there and its last target."""
        wanted = self._unroll
        parts = []
        while wanted and self._has_next(row):
            sequence, start = self._current[row], self._position[row]
            end = min(start + wanted, len(sequence) - 1)
            parts.append((sequence, start, end))
            self._position[row] = end
            wanted -= end - start
        return parts

    def _has_next(self, row: int) -> bool:
        if self._position[row] + 1 < len(self._current[row]):
            return True
        sentence = next(self._sentences, None)
        if sentence is None:
            return False
        self._current[row] = self._sequence(sentence)
        self._position[row] = 0
        return True

    def _sequence(self, sentence: list[str]) -> list[str]:
        if self._backward:
            return [END_OF_SENTENCE, *reversed(sentence), BEGIN_OF_SENTENCE]
        return [BEGIN_OF_SENTENCE, *sentence, END_OF_SENTENCE]

    def _padded(self, tokens: list[str]) -> list[str]:
        return tokens + [END_OF_SENTENCE] * (self._unroll - len(tokens))


def _joined(parts: list[tuple[list[str], int, int]]) -> tuple[list[str], list[str]]:
    """Inputs and targets of a row's parts."""
    inputs: list[str] = []
    targets: list[str] = []
    for sequence, start, end in parts:
        inputs += sequence[start:end]
        targets += sequence[start + 1 : end + 1]
    return inputs, targets


@dataclass(repr=False)
class LmBatch:
    """
    One step of language-model training, both directions.

    # Parameters

    characters : `LongTensor`, shape [U, 50]
        Character ids (1..261) of the U distinct input tokens of both directions: each is encoded once.
    forward_inputs, backward_inputs : `LongTensor`, shape [T, B]
        Row numbers in `characters`.
    forward_targets, backward_targets : `LongTensor`, shape [T, B]
        Word ids.
    forward_mask, backward_mask : `BoolTensor`, shape [T, B]
        False only where a finite text ran out.
    unknown : `int`
        Targets that are `<UNK>`, of both directions.
    """

    characters: torch.Tensor
    forward_inputs: torch.Tensor
    backward_inputs: torch.Tensor
    forward_targets: torch.Tensor
    backward_targets: torch.Tensor
    forward_mask: torch.Tensor
    backward_mask: torch.Tensor
    unknown: int

    def to(self, device: torch.device | str | int, *, non_blocking: bool = False) -> "LmBatch":
        """The same batch with its tensors on `device`."""
        moved = {
            name: value.to(device, non_blocking=non_blocking)
            for name, value in vars(self).items()
            if isinstance(value, torch.Tensor)
        }
        return LmBatch(**moved, unknown=self.unknown)


class LmStream:
    """
    An iterator of `LmBatch`. Where one finite direction ends before the other, its rows go on masked.

    # Parameters

    forward, backward : `Iterator[list[str]]`
        Sentences of either direction, from two sources of different seeds.
    vocabulary : `WordVocabulary`
        Gives the targets their ids; inputs keep their characters whether in it or not.
    batch_size, unroll : `int`
        B rows a direction and T tokens a row.
    own : `range`, optional
        The rows that the batches hold, all by default; see `TokenRows`.

    # Raises

    `InputError` where a size is below 1; `ValueError` where both directions are one iterator.
    """

    def __init__(
        self,
        forward: Iterator[list[str]],
        backward: Iterator[list[str]],
        vocabulary: WordVocabulary,
        *,
        batch_size: int,
        unroll: int,
        own: range | None = None,
    ) -> None:
        if forward is backward:
            raise ValueError("forward and backward need an iterator each: one would tear the text apart")
        self.forward_rows = TokenRows(forward, rows=batch_size, unroll=unroll, backward=False, own=own)
        self.backward_rows = TokenRows(backward, rows=batch_size, unroll=unroll, backward=True, own=own)
        self._vocabulary = vocabulary
        self._shape = (batch_size if own is None else len(own), unroll)

    def __iter__(self) -> "LmStream":
        return self

    def __next__(self) -> LmBatch:
        forward = next(self.forward_rows, None)
        backward = next(self.backward_rows, None)
        if forward is None and backward is None:
            raise StopIteration
        return self._batch(forward or self.forward_rows.blank(), backward or self.backward_rows.blank())

    def _batch(self, forward: TokenWindow, backward: TokenWindow) -> LmBatch:
        types = dict.fromkeys(chain(*forward.inputs, *backward.inputs))
        row_of = dict(zip(types, count()))
        forward_targets = self._word_ids(forward)
        backward_targets = self._word_ids(backward)
        return LmBatch(
            characters=_character_rows(types),
            forward_inputs=self._grid(map(row_of.__getitem__, chain(*forward.inputs))),
            backward_inputs=self._grid(map(row_of.__getitem__, chain(*backward.inputs))),
            forward_targets=forward_targets,
            backward_targets=backward_targets,
            forward_mask=self._mask(forward),
            backward_mask=self._mask(backward),
            unknown=_unknown(forward_targets) + _unknown(backward_targets),
        )

    def _word_ids(self, window: TokenWindow) -> torch.Tensor:
        return self._grid(map(self._vocabulary.ids.get, chain(*window.targets), repeat(UNKNOWN)))

    def _grid(self, values: Iterator[int]) -> torch.Tensor:
        rows, unroll = self._shape
        grid = np.fromiter(values, np.int64, rows * unroll).reshape(rows, unroll)
        return torch.from_numpy(np.ascontiguousarray(grid.T))  # [T, B]

    def _mask(self, window: TokenWindow) -> torch.Tensor:
        steps = torch.arange(self._shape[1]).unsqueeze(1)
        return steps < torch.tensor(window.lengths)  # [T, B]


def _unknown(targets: torch.Tensor) -> int:
    return int((targets == UNKNOWN).sum())


def _character_rows(types: Iterable[str]) -> torch.Tensor:
    joined = np.frombuffer(b"".join(map(_character_row, types)), np.uint16)
    return torch.from_numpy(joined.astype(np.int64)).view(-1, MAX_CHARACTERS)  # [U, C]


@lru_cache(maxsize=_CACHED_TOKENS)
def _character_row(token: str) -> bytes:
    return token_to_ids(token).tobytes()
