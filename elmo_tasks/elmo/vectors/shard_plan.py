"""Which lines of a corpus make up each shard of its vectors."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from elmo_tasks.elmo.batching import Line, bytes_of
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.tables import JSON_LINES, read_rows, table_kind
from elmo_tasks.formats.text.text_files import open_text


@dataclass(frozen=True)
class Shard:
    """
    `lines` lines of a corpus, beginning with line `first_line` of the first of `files`.
    `first` lines are before them in the corpus. `sha256` is of their text.
    """

    number: int
    first: int
    lines: int
    files: tuple[str, ...]
    first_line: int
    sha256: str = ""

    def read(
        self, column: str, input_format: str = "tokens"
    ) -> Iterator[tuple[str, int, Line]]:
        first = self.first_line
        for file in self.files:
            for number, row in _read(file, column, input_format, first=first):
                yield file, number, row
            first = 1


def _read(
    file: str, column: str, input_format: str, *, first: int = 1
) -> Iterator[tuple[int, Line]]:
    """The rows of a file from the number `first` on, with their lines."""
    if input_format.startswith("json") and table_kind(file) == JSON_LINES:
        return open_text(file, first=first)  # lines for the parser, with the others
    return read_rows(file, column, first=first)


def plan(
    files: Sequence[str], count: int, column: str, input_format: str = "tokens"
) -> tuple[list[Shard], str]:
    """
    `count` shards of equal numbers of lines, or as many as there are lines, and the
    sha256 of all text. The files are read twice.
    """
    ends = []  # of each file in the corpus, in lines
    total = 0
    for file in files:
        for _ in _read(file, column, input_format):
            total += 1
        ends.append(total)
    if total == 0:
        problem = "expected at least one sentence, got none"
        raise InputError(problem, file=files[0] if files else None)
    count = min(count, total)
    rows = _rows_of(files, column, input_format)
    whole = sha256()
    shards = []
    for number in range(count):
        first = total * number // count
        end = total * (number + 1) // count
        digest = sha256()
        for row in islice(rows, end - first):
            digest.update(bytes_of(row))
            whole.update(bytes_of(row))
        first_file = bisect_right(ends, first)
        last_file = bisect_right(ends, end - 1)
        before = ends[first_file - 1] if first_file else 0
        shard = Shard(
            number,
            first,
            lines=end - first,
            files=tuple(files[first_file : last_file + 1]),
            first_line=1 + first - before,
            sha256=digest.hexdigest(),
        )
        shards.append(shard)
    return shards, whole.hexdigest()


def _rows_of(files: Sequence[str], column: str, input_format: str) -> Iterator[Line]:
    for file in files:
        for _, row in _read(file, column, input_format):
            yield row
