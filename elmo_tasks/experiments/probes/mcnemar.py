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
    Items that one of two rows alone gets right, and the probability of counts at least
    as different by chance.
    """

    one: str
    other: str
    only_one: int
    only_other: int
    p: float


def neighbours(right: Mapping[str, np.ndarray]) -> list[Discordant]:
    """
    Each row compared with the next: by its name, whether each of N items is right, bool
    [N]. Of the items that one of the two alone gets right, each is as likely the one's
    as the other's if the rows do not differ: p is the two-sided binomial test of that.
    """
    from scipy.stats import binomtest

    found = []
    for one, other in pairwise(right):
        only_one = int((right[one] & ~right[other]).sum())
        only_other = int((right[other] & ~right[one]).sum())
        discordant = only_one + only_other
        p = 1.0
        if discordant:
            p = float(binomtest(only_one, discordant).pvalue)
        found.append(Discordant(one, other, only_one, only_other, p))
    return found
