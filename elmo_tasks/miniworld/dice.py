"""
Seeded choices that come out the same on every platform and every supported Python.

Python promises the same stream only for `random.Random.random()` under an integer seed, so every
choice here is made from that one method, and seeds are derived with SHA-256, never with `hash`.
"""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def stable_number(text: str) -> float:
    """A number in [0, 1) that depends on `text` alone."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return int.from_bytes(digest[:6], "big") / float(1 << 48)


class Dice:
    """
    A stream of seeded choices.

    # Parameters

    seed : `int`
        The seed of the whole world.
    purpose : `str`
        What the stream is for. Streams for different purposes are independent, so that a view
        added later leaves the files of the others as they are.
    """

    def __init__(self, seed: int, purpose: str) -> None:
        digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))

    def below(self, limit: int) -> int:
        """A whole number in [0, limit)."""
        return int(self._random.random() * limit)

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random.random() < probability

    def choice(self, items: Sequence[Item]) -> Item:
        """One of `items`, each equally likely."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[tuple[Item, float]]) -> Item:
        """One of `items`, given as pairs of item and weight."""
        left = self._random.random() * sum(weight for _, weight in items)
        for item, weight in items:
            left -= weight
            if left < 0:
                return item
        return items[-1][0]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """A new list of `items` in random order."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order
