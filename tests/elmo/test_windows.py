"""
Windows of long texts: every token once, from where it has most context, at all sizes
near the limits.
"""

import math
import re
from dataclasses import asdict
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from elmo_tasks.elmo.batching import Sentence, Window, blocks, windows
from elmo_tasks.option_values import BatchSizes

VECTORS = Path(__file__).resolve().parents[2] / "docs" / "VECTORS.md"


def context(window: Window, token: int, length: int) -> int:
    """
    The tokens between this one and the nearer end of a window, not counting the ends of
    the sentence.
    """
    nearest = length
    if window.start > 0:
        nearest = min(nearest, token - window.start)
    if window.end < length:
        nearest = min(nearest, window.end - 1 - token)
    return nearest


@pytest.mark.parametrize(("overlap", "limit"), list(combinations(range(8), 2)))
def test_each_token_once_from_where_it_has_most_context(
    overlap: int, limit: int
) -> None:
    for length in range(4 * limit + 2):
        found = windows(length, limit=limit, overlap=overlap)
        taken: list[int] = []
        for window in found:
            taken += range(window.first, window.last)
            assert 0 <= window.start <= window.first < window.last <= window.end
            assert window.end - window.start == min(limit, length)
            for token in range(window.first, window.last):
                inside = [one for one in found if one.start <= token < one.end]
                best = max(context(one, token, length) for one in inside)
                assert context(window, token, length) == best
        assert taken == list(range(length))
        for one, other in pairwise(found):
            assert one.end - other.start >= overlap
        fewest = 0
        if length > 0:
            fewest = 1 + max(0, math.ceil((length - limit) / (limit - overlap)))
        assert len(found) == fewest


def sentence(size: int) -> Sentence:
    return Sentence("", ["a"] * size, "text:1")


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([1] * 2500, [1024, 1024, 452]),
        ([10] * 9, [4, 4, 1]),  # 40 tokens fill four batches of 10
        ([39, 1, 40, 41, 7], [2, 1, 1, 1]),
        ([], []),
    ],
)
def test_blocks_are_bounded_in_sentences_and_in_tokens(
    tokens: list[int], expected: list[int]
) -> None:
    sizes = BatchSizes(max_tokens=10, max_length=9, overlap=2)
    if len(tokens) > 1000:
        sizes = BatchSizes(max_tokens=4096)
    given = [sentence(size) for size in tokens]
    found = list(blocks(iter(given), sizes))
    assert [len(block) for block in found] == expected
    assert sum(found, []) == given


def test_the_sizes_that_vectors_names() -> None:
    text = VECTORS.read_text()
    for name, size in asdict(BatchSizes()).items():
        assert re.search(rf"`{name}`[^`]*\({size:,}\)", text), name
