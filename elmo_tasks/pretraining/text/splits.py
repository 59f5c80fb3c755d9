"""The sentences of a text -> two files: one to train on, and one that is held out."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from gzip import GzipFile
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.pretraining.text.paragraphs import ParagraphSentence
from elmo_tasks.system.files import atomic_write

TRAIN = "train"
HELDOUT = "heldout"
SPLITS = (TRAIN, HELDOUT)

BLOCK = 20
"""
Consecutive paragraphs that go to the same split, so that held-out text has few
neighbours in the training text.
"""


class Written(NamedTuple):
    """
    The counts of what was written to a file of a split. Without sentences, the counts
    are zero and there is no file.
    """

    sentences: int = 0
    words: int = 0


def write_splits(
    sentences: Iterator[ParagraphSentence],
    outputs: dict[str, Path],
    index: int,
    heldout: int,
) -> dict[str, Written]:
    """
    Write the sentences of an input, whose number among all inputs is `index`, to the
    files of both splits. Equal sentences give equal bytes. A split without sentences
    has no file.
    """
    writers = {}
    with ExitStack() as stack:
        for split in SPLITS:
            writers[split] = _Writer(outputs[split], stack)
        for paragraph, words in sentences:
            if words:
                split = _split_of(index, paragraph, heldout)
                writers[split].write(words)
    return {split: writer.written() for split, writer in writers.items()}


def _split_of(index: int, paragraph: int, heldout: int) -> str:
    """The index counts, too, so that some of many short files are held out."""
    if heldout > 0 and (index + paragraph // BLOCK) % heldout == 1:
        return HELDOUT
    return TRAIN


class _Writer:
    """Writes the sentences of a split to a file, which the first one opens."""

    def __init__(self, output: Path, stack: ExitStack) -> None:
        self._output = output
        self._stack = stack  # completes and closes the file
        self._file: GzipFile | None = None
        self._sentences = 0
        self._words = 0

    def write(self, words: list[str]) -> None:
        if self._file is None:
            self._file = self._stack.enter_context(_new_gzip(self._output))
        self._file.write(" ".join(words).encode() + b"\n")
        self._sentences += 1
        self._words += len(words)

    def written(self) -> Written:
        return Written(self._sentences, self._words)


@contextmanager
def _new_gzip(path: Path) -> Iterator[GzipFile]:
    """
    A file that has its name when it is complete, without a name and a time in its
    header.
    """
    with (
        atomic_write(path) as aside,
        aside.open("wb") as file,
        GzipFile("", "wb", 4, file, mtime=0) as out,
    ):
        yield out
