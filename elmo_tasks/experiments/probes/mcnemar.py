"""Do two classifiers differ? McNemar's exact test on the items that one of them alone gets right."""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Discordant(NamedTuple):
    """Items that one of two rows alone gets right, and the probability of counts at least as different by chance."""

    one: str
    other: str
    only_one: int
    only_other: int
    p: float


def neighbours(right: Mapping[str, np.ndarray]) -> list[Discordant]:
    """Each row compared with the next: by its name, whether each item [N] is right."""
    from scipy.stats import binomtest

    found = []
    for one, other in pairwise(right):
        first, second = (
            int((right[one] & ~right[other]).sum()),
            int((right[other] & ~right[one]).sum()),
        )
        p = binomtest(first, first + second).pvalue if first + second else 1.0
        found.append(Discordant(one, other, first, second, float(p)))
    return found
