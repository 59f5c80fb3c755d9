"""
Text -> batches of the language model: the official data stream of bilm-tf.

Two independently shuffled sources of sentences feed a forward and a backward grid of B
rows. A row is an endless text: it takes T tokens per batch from its current sentence
and pulls the next sentence when that one is used up. Nothing is padded: who calls the
model starts each batch from the final LSTM states of the one before (truncated
back-propagation; paper, section 3.4).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from pydantic import SkipValidation

from elmo_tasks.bilm.characters import (
    BEGIN_OF_SENTENCE,
    END_OF_SENTENCE,
    pad_rows,
    shared_ids,
)
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.text.sentences import EndlessSentences
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary
from elmo_tasks.settings import Size, checked

Pairs = list[tuple[str, str]]
"""Input tokens, each with its target, which is the next token."""

_PADDING = (END_OF_SENTENCE, END_OF_SENTENCE)
"""The input and target of positions after the end of a text, which are masked."""

_BACKWARD_SEED = 0x5EED
"""
Added to the seed of the backward direction, so that the two losses of a step come from
different sentences.
"""


class TokenRows:
    """
    One direction of the stream: an iterator of windows over B rows of running text,
    each at most T pairs for a row.

    A sentence is `<S> w1 ... wn </S>` forward and `</S> wn ... w1 <S>` backward; all
    tokens but the last are inputs and all but the first are targets: n+1 predictions.
    Rows are filled in order. A finite source ends when every row has given all its
    predictions, with the last windows short; with an endless one every row of every
    window is full. The source is never read further than the window needs.

    The windows hold the `own` rows: one process's share in distributed training. The
    other rows take their sentences, too, so that a row's text does not depend on the
    number of processes.
    """

    def __init__(
        self,
        sentences: Iterator[list[str]],
        own: range,
        *,
        rows: int,
        unroll: int,
        backward: bool,
    ) -> None:
        self._sentences = sentences
        self._own = own
        self._unroll = unroll
        self._backward = backward
        # What each row still has to give of its current sentence.
        self._rest: list[Pairs] = [[] for _ in range(rows)]

    def __iter__(self) -> "TokenRows":
        return self

    def __next__(self) -> list[Pairs]:
        filled = [self._advance(row) for row in range(len(self._rest))]
        if not any(filled):
            raise StopIteration
        return [filled[row] for row in self._own]

    def remainders(self) -> list[list[str]]:
        """
        The rest of each row's current sentence; its first token is the next input.
        """
        remainders = []
        for pairs in self._rest:
            tokens: list[str] = []
            if pairs:
                first_input, _ = pairs[0]
                tokens.append(first_input)
                tokens += [target for _, target in pairs]
            remainders.append(tokens)
        return remainders

    def resume(self, remainders: list[list[str]]) -> None:
        """
        Continue from another iterator's `remainders()`; raises `InputError` if it had
        another number of rows.
        """
        if len(remainders) != len(self._rest):
            raise InputError(
                f"expected a checkpoint of batch_size {len(self._rest)}, "
                f"got one of {len(remainders)}"
            )
        self._rest = [list(pairwise(tokens)) for tokens in remainders]

    def begin(self, sentences: Sequence[list[str]]) -> None:
        """Give each row a sentence."""
        self._rest = [list(self._pairs(sentence)) for sentence in sentences]

    def _advance(self, row: int) -> Pairs:
        """Take the next T pairs of a row; fewer at the end of the source."""
        pairs = self._rest[row]
        while len(pairs) < self._unroll:
            sentence = next(self._sentences, None)
            if sentence is None:
                break
            pairs.extend(self._pairs(sentence))
        self._rest[row] = pairs[self._unroll :]
        return pairs[: self._unroll]

    def _pairs(self, sentence: list[str]) -> Iterator[tuple[str, str]]:
        tokens = [BEGIN_OF_SENTENCE] + sentence + [END_OF_SENTENCE]
        if self._backward:
            tokens.reverse()
        return pairwise(tokens)


@dataclass(repr=False)
class LmBatch:
    """
    One step of language-model training, both directions: forward, then backward. Each
    of the U distinct input tokens is encoded once.
    """

    characters: torch.Tensor  # [U, C], character ids (1..261)
    inputs: torch.Tensor  # [2, T, B], row numbers in `characters`
    targets: torch.Tensor  # [2, T, B], word ids
    mask: torch.Tensor  # [2, T, B], false only after the end of a finite text
    unknown: int  # number of targets that are `<UNK>`
    begins: bool = False  # the first batch of its text, which starts from zero states

    def to(self, device: torch.device | str | int) -> "LmBatch":
        return replace(
            self,
            characters=self.characters.to(device),
            inputs=self.inputs.to(device),
            targets=self.targets.to(device),
            mask=self.mask.to(device),
        )


class LmStream:
    """
    An iterator of `LmBatch` with B (`batch_size`) rows of T (`unroll`) tokens per
    direction, or the `own` rows of these (see `TokenRows`). If one direction ends
    before the other, its remaining rows are masked.
    """

    @checked
    def __init__(
        self,
        forward: SkipValidation[Iterator[list[str]]],
        backward: SkipValidation[Iterator[list[str]]],
        vocabulary: WordVocabulary,
        *,
        batch_size: Size,
        unroll: Size,
        own: range | None = None,
    ) -> None:
        if own is None:
            own = range(batch_size)
        self._rows = {
            "forward": TokenRows(
                forward, own, rows=batch_size, unroll=unroll, backward=False
            ),
            "backward": TokenRows(
                backward, own, rows=batch_size, unroll=unroll, backward=True
            ),
        }
        self._vocabulary = vocabulary
        self._row_count = len(own)
        self._unroll = unroll
        self._has_begun = False

    def __iter__(self) -> "LmStream":
        return self

    def __next__(self) -> LmBatch:
        forward = next(self._rows["forward"], None)
        backward = next(self._rows["backward"], None)
        if forward is None and backward is None:
            raise StopIteration
        nothing: list[Pairs] = [[]] * self._row_count
        return self._batch([forward or nothing, backward or nothing])

    @classmethod
    @checked
    def of_sentences(
        cls,
        sentences: Sequence[list[str]],
        vocabulary: WordVocabulary,
        *,
        unroll: Size,
    ) -> Self:
        """
        The stream of B sentences, each in a row of its own, which starts from zero
        states.
        """
        nothing: Iterator[list[str]] = iter(())
        stream = cls(
            nothing, nothing, vocabulary, batch_size=len(sentences), unroll=unroll
        )
        for rows in stream._rows.values():
            rows.begin(sentences)
        return stream

    def _batch(self, windows: list[list[Pairs]]) -> LmBatch:
        """The batch of two windows of B rows: forward, then backward."""
        begins = not self._has_begun
        self._has_begun = True
        inputs, targets = self._padded(windows)
        distinct = list(dict.fromkeys(inputs))  # U tokens, in order of appearance
        row_of = {token: row for row, token in enumerate(distinct)}
        id_of = self._vocabulary.ids
        word_ids = [id_of.get(target, UNKNOWN) for target in targets]
        return LmBatch(
            characters=_characters(distinct),
            inputs=self._grids([row_of[token] for token in inputs]),
            targets=self._grids(word_ids),
            mask=self._mask(windows),
            unknown=word_ids.count(UNKNOWN),
            begins=begins,
        )

    def _padded(self, windows: list[list[Pairs]]) -> tuple[list[str], list[str]]:
        """The inputs and targets of both directions, row by row: 2 B T each."""
        inputs: list[str] = []
        targets: list[str] = []
        for window in windows:
            for pairs in window:
                padded = pairs + [_PADDING] * (self._unroll - len(pairs))
                inputs += [token for token, _ in padded]
                targets += [target for _, target in padded]
        return inputs, targets

    def _grids(self, values: list[int]) -> torch.Tensor:
        """The grids [2, T, B] of 2 B T values, which are in the order of `_padded`."""
        by_row = np.array(values, np.int64)
        by_row = by_row.reshape(2, self._row_count, self._unroll)  # [2, B, T]
        return torch.from_numpy(np.ascontiguousarray(by_row.transpose(0, 2, 1)))

    def _mask(self, windows: list[list[Pairs]]) -> torch.Tensor:
        """True at each step that a row still has a pair for: [2, T, B]."""
        lengths = []
        for window in windows:
            lengths.append([len(pairs) for pairs in window])
        steps = torch.arange(self._unroll)  # [T]
        return steps[:, None] < torch.tensor(lengths)[:, None]  # [T, 1] < [2, 1, B]


def _characters(tokens: list[str]) -> torch.Tensor:
    """Character ids [U, C] of U tokens, where C is the length of the longest one."""
    rows = [shared_ids(token) for token in tokens]
    longest = max([len(row) for row in rows])
    return torch.from_numpy(pad_rows(rows, (len(rows), longest)))


class TrainingStream(LmStream):
    """
    The endless stream of training batches. It can save and restore the position of all
    its rows.
    """

    def __init__(
        self, files: list[Path], vocabulary: WordVocabulary, *, seed: int, **sizes: Any
    ) -> None:
        forward = EndlessSentences(files, seed=seed)
        backward = EndlessSentences(files, seed=seed + _BACKWARD_SEED)
        self._sources = {"forward": forward, "backward": backward}
        super().__init__(forward, backward, vocabulary, **sizes)

    def position(self) -> dict[str, Any]:
        """
        Whether the stream has begun, and for each direction the cycle, the number of
        sentences taken from it, and what each row still has to give of its sentence.
        """
        found: dict[str, Any] = {"has_begun": self._has_begun}
        for name, source in self._sources.items():
            found[name] = {
                "cycle": source.cycle,
                "taken": source.taken,
                "rows": self._rows[name].remainders(),
            }
        return found

    def move_to(self, position: dict[str, Any]) -> None:
        """
        Continue from `position()`; raises `InputError` if that had another
        `batch_size`.
        """
        for name, source in self._sources.items():
            saved = position[name]
            self._rows[name].resume(saved["rows"])
            source.move_to(cycle=saved["cycle"], taken=saved["taken"])
        self._has_begun = position["has_begun"]
