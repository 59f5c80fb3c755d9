"""Keeping what is scored out of what was trained on, by what files say and not by what they are called."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from elmo_tasks.errors import InputError

MOST_SHARED = 0.5
"""Two samples of the same kind of text share a few short sentences, never most of them."""


def digest(words: Sequence[str]) -> bytes:
    """16 bytes that stand for a sentence's words, whatever file they come from."""
    return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def check_overlap(
    trained: set[bytes], scored: Iterable[Sequence[str]], *, train_file: str | Path, test_file: str | Path
) -> float:
    """
    # Parameters

    trained : `set[bytes]`
        The `digest` of every training sentence.
    scored : `Iterable[Sequence[str]]`
        The words of every sentence of the test file.

    # Returns

    `float`
        The share of its sentences that the training file has, too.

    # Raises

    `InputError`
        If that is more than half: the file, or most of it, was trained on.
    """
    seen = [digest(words) in trained for words in scored]
    share = sum(seen) / len(seen)
    if share > MOST_SHARED:
        raise InputError(
            f"a file that was not trained on was wanted, {share:.0%} of its sentences stand in {train_file}",
            file=test_file,
            hint="score a file of other text",
        )
    return share
