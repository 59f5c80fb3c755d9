"""Range checks of numbers in configs."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.ranges import require_dropouts, require_factors, require_sizes


@pytest.mark.parametrize(
    ("require", "expected", "valid", "invalid"),
    [
        (require_sizes, "an integer of at least 1", (1, 10**9), (0, -3, 2.0, "2", None, True)),
        (require_dropouts, "a number of at least 0 and below 1", (0, 0.999), (-0.1, 1, math.nan, "0", None, False)),
        (require_factors, "a number of at least 0", (0, 7.5), (-1e-9, math.inf, math.nan, "0", None, True)),
    ],
)
def test_ranges(require: Callable[..., None], expected: str, valid: tuple[Any, ...], invalid: tuple[Any, ...]) -> None:
    for value in valid:
        require(key=value)
    for value in invalid:
        with pytest.raises(InputError, match=f"^key: expected {expected}, got"):
            require(other=valid[0], key=value)
