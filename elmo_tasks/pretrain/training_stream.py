"""The endless stream of a training: all files of the corpus in their shares, from any position."""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.pretrain.stream import LmBatch, LmStream, SentenceSource, TokenRows
from elmo_tasks.pretrain.vocabulary import WordVocabulary

_FILES_AT_ONCE = 32
_SHUFFLED_LINES = 200_000
"""Lines in memory over all open files."""

_BACKWARD_SEED = 0x5EED
"""Apart from the forward seed, so that a step's two losses come from different sentences."""


class TrainingStream:
    """
    The endless stream of training batches, which can tell where it stands and move there.

    # Parameters

    files, words, batch_size, unroll, seed, shuffle
        As for `LmDataLoader`.
    """

    def __init__(
        self,
        files: list[Path],
        words: WordVocabulary,
        *,
        batch_size: int,
        unroll: int,
        seed: int,
        shuffle: bool,
    ) -> None:
        self._sentences = {
            "forward": _Sentences(MixedSource(files, shuffle=shuffle, seed=seed)),
            "backward": _Sentences(MixedSource(files, shuffle=shuffle, seed=seed + _BACKWARD_SEED)),
        }
        self._stream = LmStream(
            self._sentences["forward"],
            self._sentences["backward"],
            words,
            batch_size=batch_size,
            unroll=unroll,
        )

    def __next__(self) -> LmBatch:
        return next(self._stream)

    def position(self) -> dict[str, Any]:
        """Per direction the cycle, the sentences taken from it, and what the rows still hold."""
        return {
            name: {
                "cycle": sentences.cycle,
                "taken": sentences.taken,
                "rows": [row[start:] for row, start in zip(rows._current, rows._position, strict=True)],
            }
            for name, sentences, rows in self._directions()
        }

    def move_to(self, position: dict[str, Any]) -> None:
        """
        Go on where `position()` was called, in this or another process.

        # Raises

        `InputError` where the position was taken with another `batch_size`.
        """
        for name, sentences, rows in self._directions():
            saved = position[name]
            if len(saved["rows"]) != len(rows._current):
                raise InputError(
                    f"the checkpoint was written with batch_size {len(saved['rows'])}, this run has "
                    f"{len(rows._current)}"
                )
            sentences.move_to(cycle=saved["cycle"], taken=saved["taken"])
            rows._current = [list(row) for row in saved["rows"]]
            rows._position = [0] * len(rows._current)

    def _directions(self) -> Iterator[tuple[str, "_Sentences", TokenRows]]:
        yield "forward", self._sentences["forward"], self._stream._forward
        yield "backward", self._sentences["backward"], self._stream._backward


class MixedSource:
    """
    A corpus read from all its files side by side, so that a short training, or the end of a long one, sees every
    file in its share: shards may differ, ours are novels and encyclopedia. Sentences are shuffled in blocks of each
    file, and the next file is drawn in proportion to the files' bytes.

    # Parameters

    files, shuffle, seed
        As for `SentenceSource`, which this is without `shuffle`.
    """

    def __init__(self, files: Sequence[Path], *, shuffle: bool, seed: int) -> None:
        self.files, self._shuffle, self._seed = list(files), shuffle, seed

    def once(self, cycle: int) -> Iterator[list[str]]:
        """
        Every sentence once, in the order of this cycle.

        # Raises

        `InputError` where a file is unreadable or holds no sentence.
        """
        if not self._shuffle:
            yield from SentenceSource(self.files, shuffle=False, seed=self._seed).once(cycle)
            return
        order = random.Random(f"{self._seed} {cycle} files")
        waiting = list(self.files)
        order.shuffle(waiting)
        read: list[tuple[Iterator[list[str]], int]] = []
        while read or waiting:
            while waiting and len(read) < _FILES_AT_ONCE:
                read.append(self._open(waiting.pop(), cycle))
            (index,) = order.choices(range(len(read)), [size for _, size in read])
            sentence = next(read[index][0], None)
            if sentence is None:
                del read[index]
            else:
                yield sentence

    def _open(self, file: Path, cycle: int) -> tuple[Iterator[list[str]], int]:
        block = max(1, _SHUFFLED_LINES // min(len(self.files), _FILES_AT_ONCE))
        source = SentenceSource([file], shuffle=True, seed=self._seed, shuffle_buffer=block)
        return source.once(cycle), file.stat().st_size


class _Sentences(Iterator[list[str]]):
    """A source's endless sentences, counted."""

    def __init__(self, source: MixedSource) -> None:
        self._source = source
        self.move_to(cycle=0, taken=0)

    def move_to(self, *, cycle: int, taken: int) -> None:
        self.cycle, self.taken = cycle, 0
        self._iterator = self._source.once(cycle)
        for _ in range(taken):
            next(self)

    def __next__(self) -> list[str]:
        sentence = next(self._iterator, None)
        if sentence is None:
            self.cycle, self.taken = self.cycle + 1, 0
            self._iterator = self._source.once(self.cycle)
            sentence = next(self._iterator)
        self.taken += 1
        return sentence


def count_predictions(files: Iterable[str | Path]) -> int:
    """Predictions of one direction in one pass: every token and every sentence end."""
    source = SentenceSource(files, shuffle=False, seed=0)
    return sum(len(sentence) + 1 for sentence in source.once(0))
