"""Long sentences in overlapping windows."""

import pytest

from elmo_tasks.elmo.windows import Window, require_window, windows
from elmo_tasks.errors import InputError


def context(window: Window, token: int, length: int) -> float:
    """Tokens between a token and the nearer end of a window that is not the sentence's own."""
    left = float("inf") if window.start == 0 else token - window.start
    right = float("inf") if window.end == length else window.end - 1 - token
    return min(left, right)


@pytest.mark.parametrize(("limit", "overlap"), [(1, 0), (2, 1), (7, 0), (8, 3), (8, 4), (9, 4), (10, 2)])
def test_each_token_once_from_where_it_has_most_context(limit: int, overlap: int) -> None:
    for length in range(70):
        found = windows(length, limit=limit, overlap=overlap)
        taken = [token for window in found for token in range(window.first, window.last)]
        assert taken == list(range(length))
        assert all(0 <= w.start <= w.first < w.last <= w.end <= length <= max(length, limit) for w in found)
        assert all(window.end - window.start == min(length, limit) for window in found)
        for window in found:
            for token in range(window.first, window.last):
                there = [w for w in found if w.start <= token < w.end]
                assert context(window, token, length) == max(context(w, token, length) for w in there)


def test_a_worked_example() -> None:
    assert windows(17, limit=10, overlap=4) == [(0, 10, 0, 8), (6, 16, 8, 12), (7, 17, 12, 17)]
    assert windows(10, limit=10, overlap=4) == [(0, 10, 0, 10)]
    assert windows(0, limit=10, overlap=4) == []


@pytest.mark.parametrize(
    ("limit", "overlap", "message"),
    [
        (0, 0, "max_length must be from 1 to 2147483647, got 0"),
        (10, 6, "overlap must be from 0 to half of max_length, 5, found 6"),
        (10, -1, "overlap must be from 0 to half of max_length, 5, found -1"),
    ],
)
def test_windows_that_cannot_be(limit: int, overlap: int, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        require_window(limit, overlap)
