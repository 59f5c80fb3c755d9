import math

import pytest
import torch

from elmo_tasks.tasks.squad.layers import best_spans


def enumerated(
    starts: list[float], ends: list[float], max_length: int
) -> list[tuple[float, int, int]]:
    """All legal spans of one passage, best first."""
    spans = []
    for i in range(len(starts)):
        for j in range(i, min(len(starts), i + max_length)):
            spans.append((starts[i] + ends[j], i, j))
    return sorted(spans, reverse=True)


@pytest.mark.parametrize("max_length", [1, 2, 3, 17, 10**9])
def test_best_spans_equal_enumeration(max_length: int) -> None:
    lengths = [1, 2, 5, 7, 7]
    mask = torch.arange(7)[None] < torch.tensor(lengths)[:, None]
    starts, ends = torch.randn(2, 5, 7, dtype=torch.float64)
    starts[~mask] = 99.0
    ends[~mask] = 99.0
    found = best_spans(starts, ends, mask, max_length=max_length, count=6)
    for row, length in enumerate(lengths):
        of_starts = starts[row, :length].tolist()
        spans = enumerated(of_starts, ends[row, :length].tolist(), max_length)
        total = sum([math.exp(score) for score, _, _ in spans])
        for place, (score, first, last) in enumerate(spans[:6]):
            assert found.starts[row, place].item() == first
            assert found.ends[row, place].item() == last
            assert found.scores[row, place].item() == pytest.approx(score)
            probability = found.probabilities[row, place].item()
            assert probability == pytest.approx(math.exp(score) / total)
        assert (found.scores[row, len(spans) :] == -torch.inf).all()
        assert not found.probabilities[row, len(spans) :].any()
