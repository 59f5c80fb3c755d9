"""Perplexity: weighted by tokens, refused where it means nothing."""

import math

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.language_model import LmOutput, LmStates
from elmo_tasks.pretraining.perplexity import Perplexity
from elmo_tasks.pretraining.stream import LmBatch


def batch_with(unknown: int = 0) -> LmBatch:
    """A batch of which only the number of unknown targets is ever read."""
    return LmBatch(*[torch.empty(0)] * 7, unknown=unknown)


def counted(forward: float, forward_count: int, backward: float, backward_count: int) -> LmOutput:
    sums, counts = (forward, backward), (forward_count, backward_count)
    return LmOutput(*map(torch.tensor, sums), *map(torch.tensor, counts), LmStates([], []))


def test_perplexity_weighs_tokens() -> None:
    perplexity = Perplexity()
    perplexity.add(counted(2.0, 1, 3.0, 2), batch_with(unknown=1))
    perplexity.add(counted(4.0, 3, 1.0, 2), batch_with(unknown=2))
    report = perplexity.report()
    assert report.forward == pytest.approx(math.exp(6 / 4))
    assert report.backward == pytest.approx(math.exp(4 / 4))
    assert report.geometric == pytest.approx(math.exp((6 / 4 + 4 / 4) / 2))
    assert report.arithmetic == pytest.approx((math.exp(6 / 4) + math.exp(4 / 4)) / 2)
    assert report.unknown_share == pytest.approx(3 / 8)
    assert report.tokens == 8


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_perplexity_refuses_what_is_not_finite(bad: float) -> None:
    perplexity = Perplexity()
    perplexity.add(counted(2.0, 1, 3.0, 1), batch_with())
    with pytest.raises(InputError, match=f"the backward negative log-likelihood of a batch is {bad}"):
        perplexity.add(counted(2.0, 1, bad, 1), batch_with())
    assert perplexity.report().tokens == 2


def test_perplexity_beyond_all_numbers_is_infinite() -> None:
    perplexity = Perplexity()
    perplexity.add(counted(800.0, 1, 1.0, 1), batch_with())
    assert perplexity.report().forward == math.inf


def test_perplexity_of_nothing_is_refused() -> None:
    perplexity = Perplexity()
    with pytest.raises(InputError, match="no forward token was counted"):
        perplexity.report()
    perplexity.add(counted(2.0, 1, 0.0, 0), batch_with())
    with pytest.raises(InputError, match="no backward token was counted"):
        perplexity.report()
