"""Range checks of numbers in configs."""

import math
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.ranges import require_dropouts, require_factors, require_sizes


@pytest.mark.parametrize("size", [0, -3, 2.0, "2", None, True])
def test_sizes(size: Any) -> None:
    require_sizes(width=1, height=10**9)
    with pytest.raises(InputError, match="^height: expected an integer of at least 1, got"):
        require_sizes(width=1, height=size)


@pytest.mark.parametrize("rate", [-0.1, 1, 1.5, math.nan, "0", None, False])
def test_dropouts(rate: Any) -> None:
    require_dropouts(input_dropout=0, dropout=0.999)
    with pytest.raises(InputError, match="^dropout: expected a number of at least 0 and below 1, got"):
        require_dropouts(input_dropout=0, dropout=rate)


@pytest.mark.parametrize("factor", [-1e-9, math.inf, math.nan, "0", None, True])
def test_factors(factor: Any) -> None:
    require_factors(l2=0, other=7.5)
    with pytest.raises(InputError, match="^l2: expected a number of at least 0, got"):
        require_factors(l2=factor)
