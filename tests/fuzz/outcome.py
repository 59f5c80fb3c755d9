"""Tests that a reader reads any bytes or raises one clear error, quickly and with little memory."""

import random
import signal
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError, one_line
from tests.fuzz.damaged import mutated
from tests.fuzz.hostile import unpacked
from tests.fuzz.subjects import Subject
from tests.memory import grown

SECONDS = 10.0
"""A reader that takes longer for a few kilobytes hangs."""

FLOOR, TIMES = 64e6, 10
"""The memory that a reader can use: a constant, and a multiple of the file."""

LONGEST = 2000
"""The maximal length of a message."""


def outcome(subject: Subject, data: bytes, folder: Path, *, seconds: float = SECONDS) -> str:
    """`read`, `refused`, or a description of the failure."""
    file = folder / "damaged" / subject.name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    with warnings.catch_warnings(record=True) as caught, grown() as memory:
        warnings.simplefilter("always")
        try:
            with _alarm(seconds):
                subject.read(file)
            found = "read"
        except _Hang:
            return f"took longer than {seconds:.0f} s"
        except Exception as error:
            line = one_line(error) if subject.framework or isinstance(error, InputError) else None
            found = f"{type(error).__name__}: {str(error)[:200]}" if line is None else _of_message(line)
    if memory[0] > FLOOR + TIMES * unpacked(data):
        return f"took {memory[0] / 1e6:.0f} MB for a file of {unpacked(data) / 1e6:.2f} MB"
    numeric = [str(one.message) for one in caught if issubclass(one.category, RuntimeWarning)]
    return numeric[0] if numeric else found


class _Hang(BaseException):
    """Not an `Exception`, which a reader could catch."""


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raises `_Hang` after some seconds."""

    def ring(*_: Any) -> None:
        raise _Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _of_message(message: str) -> str:
    if len(message) > LONGEST:
        return f"a message of {len(message)} characters: {message[:200]}"
    if any(ord(character) < 32 and character != "\n" for character in message):
        return f"a message with control characters: {message[:200]!r}"
    return "refused"


def fuzz(subject: Subject, *, count: int, seed: int, folder: Path) -> tuple[Counter[str], dict[str, bytes]]:
    """The number of files for each outcome, and the first file for each failure."""
    draw = random.Random(seed)
    counts: Counter[str] = Counter()
    failures: dict[str, bytes] = {}
    for _ in range(count):
        data = mutated(subject.sample, draw)
        found = outcome(subject, data, folder)
        counts[found] += 1
        if found not in ("read", "refused"):
            failures.setdefault(found, data)
    return counts, failures
