"""The endless stream of a training: all files of the corpus in their shares, from any position."""

from pathlib import Path
from typing import Any

from elmo_tasks.pretraining.sentences import EndlessSentences, MixedSource
from elmo_tasks.pretraining.stream import LmBatch, LmStream
from elmo_tasks.pretraining.vocabulary import WordVocabulary

_BACKWARD_SEED = 0x5EED
"""Apart from the forward seed, so that a step's two losses come from different sentences."""


class TrainingStream:
    """
    The endless stream of training batches, which can tell where it stands and move there.

    # Parameters

    files, words, batch_size, unroll, seed, shuffle
        As for `LmDataLoader`.
    own : `range`, optional
        The rows that the batches hold; see `TokenRows`. A position is that of all rows.
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
        own: range | None = None,
    ) -> None:
        forward = EndlessSentences(MixedSource(files, shuffle=shuffle, seed=seed))
        backward = EndlessSentences(MixedSource(files, shuffle=shuffle, seed=seed + _BACKWARD_SEED))
        self._stream = LmStream(forward, backward, words, batch_size=batch_size, unroll=unroll, own=own)
        self._directions = {
            "forward": (forward, self._stream.forward_rows),
            "backward": (backward, self._stream.backward_rows),
        }

    def __next__(self) -> LmBatch:
        return next(self._stream)

    def position(self) -> dict[str, Any]:
        """Per direction the cycle, the sentences taken from it, and what the rows still hold."""
        return {
            name: {"cycle": sentences.cycle, "taken": sentences.taken, "rows": rows.remainders()}
            for name, (sentences, rows) in self._directions.items()
        }

    def move_to(self, position: dict[str, Any]) -> None:
        """
        Go on where `position()` was called, in this or another process.

        # Raises

        `InputError` where the position was taken with another `batch_size`.
        """
        for name, (sentences, rows) in self._directions.items():
            saved = position[name]
            rows.resume(saved["rows"])
            sentences.move_to(cycle=saved["cycle"], taken=saved["taken"])
