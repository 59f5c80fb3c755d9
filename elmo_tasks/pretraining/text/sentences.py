"""
Text files -> tokenized sentences: once in order, or in endless shuffled passes within
bounded memory.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.text.tables import require_text
from elmo_tasks.formats.text.text_files import list_files, not_empty, open_text

_OPEN_FILES = 32
"""Files that `shuffled_sentences` reads side by side."""

_SHUFFLED_LINES = 200_000
"""Lines in memory, over all open files."""


def expand_files(patterns: str | Sequence[str]) -> list[Path]:
    """
    The files that a path or a glob (`**` is recursive), or a list of these, match,
    sorted and without duplicates. Raises `InputError` if a pattern matches no file.
    """
    if isinstance(patterns, str):
        patterns = [patterns]
    found = {}
    for pattern in patterns:
        for name in list_files(located(pattern)):
            path = Path(name)
            found[path.resolve()] = path
    if not found:
        raise InputError(
            "expected a text file, got no name",
            hint="give a path, a glob or a list of them",
        )
    return sorted(found.values())


def read_sentences(
    files: Iterable[str | Path],
    *,
    rng: random.Random | None = None,
    block_lines: int = _SHUFFLED_LINES,
    split: Callable[[str], list[str]] = str.split,
) -> Iterator[list[str]]:
    """
    The tokens of each line that has any, as `split` splits it, of plain or gzip text
    with one tokenized sentence per line. With `rng`, lines are shuffled within blocks of
    `block_lines`, so that memory does not grow with the file. Raises `InputError` if a
    file is unreadable, a table, or has no sentence.
    """
    for file in files:
        require_text(
            file, hint="elmo-tasks bilm prepare --text-field NAME reads tables"
        )
        sentences = _sentences(file, rng, block_lines, split)
        yield from not_empty(sentences, "no sentence in this file", file)


def _sentences(
    file: str | Path,
    rng: random.Random | None,
    block_lines: int,
    split: Callable[[str], list[str]],
) -> Iterator[list[str]]:
    lines: Iterator[str] = (line for _, line in open_text(file))
    if rng is not None:
        lines = shuffled_in_blocks(lines, block_lines, rng)
    for line in lines:
        words = split(line)
        if words:
            yield words


def shuffled_in_blocks(
    lines: Iterator[str], size: int, rng: random.Random
) -> Iterator[str]:
    """
    The same lines, shuffled within blocks of `size`; never reads more than a block
    ahead.
    """
    block = list(islice(lines, size))
    while block:
        rng.shuffle(block)
        # Popped, so that nothing of a block is in memory when the next one is read.
        while block:
            yield block.pop()
        block = list(islice(lines, size))


def check_text(files: Iterable[Path]) -> None:
    """
    Raises `InputError` for the first file that is unreadable or has no sentence, before
    hours of work.
    """
    for file in files:
        next(read_sentences([file]))


def count_predictions(files: Iterable[str | Path]) -> int:
    """Predictions per direction in one pass: every token and every sentence end."""
    return sum(len(sentence) + 1 for sentence in read_sentences(files))


def shuffled_sentences(
    files: Sequence[Path], *, seed: int, cycle: int
) -> Iterator[list[str]]:
    """
    Every sentence once, in an order that depends on seed and cycle.

    Files are read side by side, so that a short training, or the end of a long one,
    sees each in proportion: shards may differ, ours are novels and encyclopedia
    articles. The next file is sampled in proportion to the files' bytes.
    """
    rng = random.Random(f"{seed} {cycle} files")
    waiting = list(files)
    rng.shuffle(waiting)
    block_lines = max(1, _SHUFFLED_LINES // min(len(files), _OPEN_FILES))
    opened: list[Iterator[list[str]]] = []
    sizes: list[int] = []  # of the opened files, in bytes
    while opened or waiting:
        while waiting and len(opened) < _OPEN_FILES:
            file = waiting.pop()
            own_rng = random.Random(f"{seed} {cycle}")
            opened.append(read_sentences([file], rng=own_rng, block_lines=block_lines))
            sizes.append(file.stat().st_size)
        [index] = rng.choices(range(len(opened)), sizes)
        sentence = next(opened[index], None)
        if sentence is None:
            del opened[index]
            del sizes[index]
        else:
            yield sentence


class EndlessSentences(Iterator[list[str]]):
    """
    The sentences of cycle 0, 1 and so on, without end, each cycle in another order.
    """

    def __init__(self, files: Sequence[Path], *, seed: int) -> None:
        self._files = list(files)
        self._seed = seed
        self._start(0)

    def _start(self, cycle: int) -> None:
        self.cycle = cycle
        self.taken = 0
        self._iterator = shuffled_sentences(self._files, seed=self._seed, cycle=cycle)

    def move_to(self, *, cycle: int, taken: int) -> None:
        """Continue after the first `taken` sentences of a cycle."""
        self._start(cycle)
        for _ in range(taken):
            next(self)

    def __next__(self) -> list[str]:
        sentence = next(self._iterator, None)
        if sentence is None:
            self._start(self.cycle + 1)
            sentence = next(self._iterator)
        self.taken += 1
        return sentence
