"""
Do two classifiers differ? McNemar's exact test on the items that one of them alone gets
right.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Discordant(NamedTuple):
    """
    The numbers of items that only one of two rows gets right, and the probability p of
    numbers that differ at least as much by chance.
    """

    one: str
    other: str
    only_one: int
    only_other: int
    p: float


def neighbours(right: Mapping[str, np.ndarray]) -> list[Discordant]:
    """
    Compare each row with the next one. `right` has, by name, whether each of N items is
    right, bool [N]. If two rows do not differ, an item that only one of them gets right
    is equally likely to be either's; p is the two-sided binomial test of that.
    """
    from scipy.stats import binomtest

    found = []
    for one, other in pairwise(right):
        only_one = int((right[one] & ~right[other]).sum())
        only_other = int((right[other] & ~right[one]).sum())
        p = 1.0
        if only_one + only_other:
            p = float(binomtest(only_one, only_one + only_other).pvalue)
        found.append(Discordant(one, other, only_one, only_other, p))
    return found
