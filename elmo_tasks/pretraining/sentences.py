"""Text files -> tokenised sentences, shuffled within bounded memory, once or without end."""

import glob
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from elmo_tasks.data.files import open_text
from elmo_tasks.errors import InputError

_FILES_AT_ONCE = 32
_SHUFFLED_LINES = 200_000
"""Lines in memory over all open files."""


def expand_files(patterns: str | Sequence[str]) -> list[Path]:
    """
    The files that paths and globs name, sorted, none twice.

    # Parameters

    patterns : `str` or `Sequence[str]`
        A path, a glob (`**` reaches into folders), or several, as a list or separated by commas.

    # Raises

    `InputError` naming the pattern that matches no file.
    """
    given = [patterns] if isinstance(patterns, str) else list(patterns)
    parts = [part.strip() for entry in given for part in _split_commas(entry)]
    single = [part for part in parts if part]
    if not single:
        raise InputError("no text file is named", hint="give a path, a glob or a list of them")
    found = {path.resolve(): path for pattern in single for path in _matches(pattern)}
    return sorted(found.values())


def _split_commas(entry: str) -> list[str]:
    return [entry] if Path(entry).is_file() else entry.split(",")


def _matches(pattern: str) -> list[Path]:
    names = [pattern] if Path(pattern).is_file() else glob.glob(pattern, recursive=True)
    files = [Path(name) for name in names if not Path(name).is_dir()]
    for file in files:
        if not file.is_file():
            raise InputError("a regular file was wanted: text is read more than once", file=file, hint="write it out")
    if not files:
        what = "it is a folder" if Path(pattern).is_dir() else "nothing matches"
        raise InputError(
            f"text files were wanted at {pattern!r}, {what}",
            hint="give a path or a glob such as 'lm/train.*.txt.gz'",
        )
    return files


def require_text(files: Iterable[Path]) -> None:
    """
    Look into every file, so that a faulty one is told before hours of work and not after them.

    # Raises

    `InputError` naming the first file that cannot be read or holds no sentence.
    """
    for file in files:
        next(SentenceSource([file], shuffle=False, seed=0).once(0))


class SentenceSource:
    """
    A corpus as a stream of tokenised sentences, in another order every cycle.

    Files come in an order drawn from the seed and the cycle, and lines are shuffled within blocks, so
    memory is that of one block however large the corpus or a single file. Blocks run across file ends.

    # Parameters

    files : `Iterable[str | Path]`
        Plain or gzip text, a sentence a line, tokens apart by white space.
    shuffle : `bool`
        Without it, files and lines keep their order.
    seed : `int`
        The same seed gives the same order. The forward and the backward source take different ones.
    shuffle_buffer : `int`
        Lines of a block.

    # Raises

    `InputError` where no file is given or the buffer is below 1.
    """

    def __init__(
        self,
        files: Iterable[str | Path],
        *,
        shuffle: bool,
        seed: int,
        shuffle_buffer: int = _SHUFFLED_LINES,
    ) -> None:
        self.files = [Path(file) for file in files]
        self.blank_lines = 0
        """Blank lines skipped so far in the pass that began last."""
        self._shuffle = shuffle
        self._seed = seed
        self._buffer = shuffle_buffer
        if not self.files:
            raise InputError("a corpus of one file or more was wanted, found none")
        if shuffle_buffer < 1:
            raise InputError(f"shuffle_buffer must be 1 or more, found {shuffle_buffer}")

    def once(self, cycle: int) -> Iterator[list[str]]:
        """
        Every sentence of the corpus once, in the order of this cycle; blank lines are skipped.

        # Raises

        `InputError` where a file is unreadable, or at the end where the corpus holds no sentence.
        """
        self.blank_lines = 0
        empty = True
        for line in self._lines(cycle):
            sentence = line.split()
            if sentence:
                empty = False
                yield sentence
            else:
                self.blank_lines += 1
        if empty:
            more = f", nor in the {len(self.files) - 1} others" if len(self.files) > 1 else ""
            raise InputError(f"no sentence in this file{more}", file=self.files[0])

    def _lines(self, cycle: int) -> Iterator[str]:
        files = list(self.files)
        order = random.Random(f"{self._seed} {cycle}")
        if self._shuffle:
            order.shuffle(files)
        lines = (line for file in files for _, line in open_text(file))
        return shuffled_in_blocks(lines, self._buffer, order) if self._shuffle else lines


def shuffled_in_blocks(lines: Iterator[str], size: int, order: random.Random) -> Iterator[str]:
    """The same lines, shuffled among the `size` that are read at a time; never reads further ahead."""
    while block := list(islice(lines, size)):
        order.shuffle(block)
        # Handed over from the end, so that the block shrinks while it is used.
        while block:
            yield block.pop()


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


class EndlessSentences(Iterator[list[str]]):
    """
    The sentences of cycle 0, 1 and so on without end, counted, so that a stream can say where it stands.

    # Parameters

    source : `SentenceSource` or `MixedSource`
    """

    def __init__(self, source: "SentenceSource | MixedSource") -> None:
        self._source = source
        self.move_to(cycle=0, taken=0)

    def move_to(self, *, cycle: int, taken: int) -> None:
        """Go on behind the first `taken` sentences of a cycle."""
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
