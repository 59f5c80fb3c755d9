"""A check that the scored text is not the training text, by content rather than by file name."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from elmo_tasks.errors import InputError

MAX_SHARED = 0.5
"""Two samples of the same kind of text share a few short sentences, never most of them."""


def check_overlap(
    trained: Iterable[Sequence[str]],
    scored: Iterable[Sequence[str]],
    *,
    train_file: str | Path,
    test_file: str | Path,
) -> float:
    """
    The share of the test file's sentences that are also in the training file, from the words of each sentence. Raises
    `InputError` if it is more than half.
    """
    known = set(map(tuple, trained))
    seen = [tuple(words) in known for words in scored]
    share = sum(seen) / len(seen)
    if share > MAX_SHARED:
        problem = f"expected text that was not trained on, {share:.0%} of its sentences are in {train_file}"
        raise InputError(problem, file=test_file)
    return share
