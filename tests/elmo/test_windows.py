"""Windows of long texts: every token once, from where it has most context, at all sizes near the limits."""

import pytest

from elmo_tasks.elmo.windows import Window, windows


def context(window: Window, token: int, length: int) -> int:
    """The tokens between this one and the nearer end of a window, not counting the ends of the sentence."""
    left = token - window.start if window.start > 0 else length
    right = window.end - 1 - token if window.end < length else length
    return min(left, right)


SIZES = [(limit, overlap) for limit in range(1, 8) for overlap in range(limit)]


@pytest.mark.parametrize(("limit", "overlap"), SIZES)
def test_each_token_once_from_where_it_has_most_context(
    limit: int, overlap: int
) -> None:
    for length in range(4 * limit + 2):
        found = windows(length, limit=limit, overlap=overlap)
        taken = [token for one in found for token in range(one.first, one.last)]
        assert taken == list(range(length))
        for window in found:
            assert 0 <= window.start <= window.first < window.last <= window.end
            assert window.end - window.start == min(limit, length)
            for token in range(window.first, window.last):
                inside = [one for one in found if one.start <= token < one.end]
                best = max(context(one, token, length) for one in inside)
                assert context(window, token, length) == best
        for one, other in zip(found, found[1:], strict=False):
            assert one.end - other.start >= overlap
        step = limit - overlap
        fewest = 0 if length == 0 else 1 + max(0, -(-(length - limit) // step))
        assert len(found) == fewest


def test_sentences_at_the_limit() -> None:
    assert windows(0, limit=4, overlap=2) == []
    assert windows(4, limit=4, overlap=2) == [Window(0, 4, 0, 4)]
    assert windows(5, limit=4, overlap=2) == [Window(0, 4, 0, 3), Window(1, 5, 3, 5)]
    assert windows(6, limit=4, overlap=2) == [Window(0, 4, 0, 3), Window(2, 6, 3, 6)]
