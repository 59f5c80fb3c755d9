"""
Text -> batches of the language model: the official data stream of bilm-tf.

Two independently shuffled sources of sentences feed a forward and a backward grid of B rows. A row is an endless text:
it takes T tokens per batch from its current sentence and pulls the next sentence when that one is used up. Nothing is
padded: who calls the model starts each batch from the final LSTM states of the one before (truncated back-propagation;
paper, section 3.4).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, count, pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
import torch

from elmo_tasks.bilm.bilm import DIRECTIONS
from elmo_tasks.bilm.characters import (
    BEGIN_OF_SENTENCE,
    END_OF_SENTENCE,
    pad_rows,
    shared_ids,
)
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.sentences import EndlessSentences
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary
from elmo_tasks.settings import Size, checked

_PADDING = (END_OF_SENTENCE, END_OF_SENTENCE)  # after the end of a text; masked
_BACKWARD_SEED = 0x5EED  # added to the seed, so that the two losses of a step come from different sentences

Pairs = list[tuple[str, str]]  # inputs and their targets, the next tokens


class TokenRows:
    """
    One direction of the stream: an iterator of windows over B rows of running text, each at most T pairs for a row.

    A sentence is `<S> w1 ... wn </S>` forward and `</S> wn ... w1 <S>` backward; all tokens but the last are inputs and
    all but the first are targets: n+1 predictions. Rows are filled in order. A finite source ends when every row has
    given all its predictions, with the last windows short; with an endless one every row of every window is full. The
    source is never read further than the window needs.

    The windows hold the `own` rows: one process's share in distributed training. The other rows take their sentences,
    too, so that a row's text does not depend on the number of processes.
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
        self._sentences, self._own, self._unroll = sentences, own, unroll
        self._order = -1 if backward else 1
        self._rest: list[Pairs] = [
            [] for _ in range(rows)
        ]  # of each row's current sentence

    def __iter__(self) -> "TokenRows":
        return self

    def __next__(self) -> list[Pairs]:
        filled = [self._advance(row) for row in range(len(self._rest))]
        if not any(filled):
            raise StopIteration
        return [filled[row] for row in self._own]

    def remainders(self) -> list[list[str]]:
        """The rest of each row's current sentence; its first token is the next input."""
        return [
            [pairs[0][0], *(target for _, target in pairs)] if pairs else []
            for pairs in self._rest
        ]

    def resume(self, remainders: list[list[str]]) -> None:
        """Continue from another iterator's `remainders()`; raises `InputError` if it had another number of rows."""
        if len(remainders) != len(self._rest):
            raise InputError(
                f"expected a checkpoint of batch_size {len(self._rest)}, got one of {len(remainders)}"
            )
        self._rest = [list(pairwise(tokens)) for tokens in remainders]

    def _advance(self, row: int) -> Pairs:
        pairs = self._rest[row]
        while (
            len(pairs) < self._unroll
            and (sentence := next(self._sentences, None)) is not None
        ):
            pairs.extend(
                pairwise(
                    [BEGIN_OF_SENTENCE, *sentence, END_OF_SENTENCE][:: self._order]
                )
            )
        taken, self._rest[row] = pairs[: self._unroll], pairs[self._unroll :]
        return taken


@dataclass(repr=False)
class LmBatch:
    """
    One step of language-model training, both directions: forward, then backward. Each of the U distinct input tokens is
    encoded once.
    """

    characters: torch.Tensor  # [U, C], character ids (1..261)
    inputs: torch.Tensor  # [2, T, B], row numbers in `characters`
    targets: torch.Tensor  # [2, T, B], word ids
    mask: torch.Tensor  # [2, T, B], false only after the end of a finite text
    unknown: int  # targets that are `<UNK>`
    begins: bool = False  # whether it is the first one of its text: from zero states

    def to(self, device: torch.device | str | int) -> "LmBatch":
        values: dict[str, Any] = vars(self)
        return replace(
            self,
            **{
                key: value.to(device)
                for key, value in values.items()
                if hasattr(value, "to")
            },
        )


class LmStream:
    """
    An iterator of `LmBatch` with B (`batch_size`) rows of T (`unroll`) tokens per direction, or the `own` rows of these
    (see `TokenRows`). If one direction ends before the other, its remaining rows are masked.
    """

    @checked
    def __init__(
        self,
        forward: Iterator[list[str]],
        backward: Iterator[list[str]],
        vocabulary: WordVocabulary,
        *,
        batch_size: Size,
        unroll: Size,
        own: range | None = None,
    ) -> None:
        own = range(batch_size) if own is None else own
        self._rows = {
            direction: TokenRows(
                source,
                own,
                rows=batch_size,
                unroll=unroll,
                backward=direction == "backward",
            )
            for direction, source in zip(DIRECTIONS, (forward, backward), strict=True)
        }
        self._vocabulary = vocabulary
        self._shape = len(own), unroll
        self._has_begun = False

    def __iter__(self) -> "LmStream":
        return self

    def __next__(self) -> LmBatch:
        windows = [next(rows, None) for rows in self._rows.values()]
        if windows == [None, None]:
            raise StopIteration
        blank: list[Pairs] = [[]] * self._shape[0]
        return self._batch(*(window or blank for window in windows))

    def _batch(self, *windows: list[Pairs]) -> LmBatch:
        unroll = self._shape[1]
        begins = not self._has_begun
        self._has_begun = True
        lengths = torch.tensor(
            [[len(pairs) for pairs in window] for window in windows]
        )  # [2, B]
        padded = (
            [*pairs, *[_PADDING] * (unroll - len(pairs))]
            for window in windows
            for pairs in window
        )
        tokens = list(chain.from_iterable(chain.from_iterable(padded)))
        inputs, targets = tokens[::2], tokens[1::2]  # of 2 B T tokens
        types = dict.fromkeys(inputs)
        rows = list(map(shared_ids, types))
        row_of = dict(zip(types, count()))
        words = self._grids(map(self._vocabulary.ids.get, targets, repeat(UNKNOWN)))
        return LmBatch(
            torch.from_numpy(
                pad_rows(rows, (len(rows), max(map(len, rows))))
            ),  # [U, C]
            inputs=self._grids(map(row_of.__getitem__, inputs)),
            targets=words,
            mask=torch.arange(unroll)[:, None] < lengths[:, None],
            unknown=int((words == UNKNOWN).sum()),
            begins=begins,
        )

    def _grids(self, values: Iterator[int]) -> torch.Tensor:
        """The grids of both directions, [2, T, B]."""
        rows, unroll = self._shape
        grids = np.fromiter(values, np.int64, 2 * rows * unroll).reshape(
            2, rows, unroll
        )
        return torch.from_numpy(np.ascontiguousarray(grids.transpose(0, 2, 1)))


class TrainingStream(LmStream):
    """The endless stream of training batches, which can save and restore its position: that of all rows."""

    def __init__(
        self, files: list[Path], vocabulary: WordVocabulary, *, seed: int, **sizes: Any
    ) -> None:
        seeds = {"forward": seed, "backward": seed + _BACKWARD_SEED}
        self._sources = {
            name: EndlessSentences(files, seed=own) for name, own in seeds.items()
        }
        super().__init__(
            self._sources["forward"], self._sources["backward"], vocabulary, **sizes
        )

    def position(self) -> dict[str, Any]:
        """Per direction the cycle, the sentences taken from it, and the rest of each row's sentence."""
        found: dict[str, Any] = {"has_begun": self._has_begun}
        for name, source in self._sources.items():
            found[name] = {
                "cycle": source.cycle,
                "taken": source.taken,
                "rows": self._rows[name].remainders(),
            }
        return found

    def move_to(self, position: dict[str, Any]) -> None:
        """Continue from `position()`; raises `InputError` if that had another `batch_size`."""
        for name, source in self._sources.items():
            saved = position[name]
            self._rows[name].resume(saved["rows"])
            source.move_to(cycle=saved["cycle"], taken=saved["taken"])
        self._has_begun = position["has_begun"]
