"""
Binary trees with a sentiment at each node, and the rules by which the sentiment of a whole follows from its parts.

A sentiment is a whole number from -2, very negative, to 2, very positive; the label in the file is two more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

Rule = Callable[[int], int]


@dataclass(frozen=True)
class Node:
    """
    A word, or two nodes.

    # Parameters

    value : `int`
        Its sentiment, -2 to 2.
    word : `str`
        Empty for two nodes.
    parts : `tuple[Node, ...]`
        Empty for a word.
    """

    value: int
    word: str = ""
    parts: tuple[Node, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Its words in their order."""
        return (self.word,) if self.word else tuple(word for part in self.parts for word in part.words)

    def __str__(self) -> str:
        """The tree in the treebank's brackets."""
        inside = self.word or " ".join(map(str, self.parts))
        return f"({self.value + 2} {inside})"


def join(left: Node, right: Node, *, value: int | None = None) -> Node:
    """Two nodes in one; by default it has the stronger sentiment of both, the right one's where they are equal."""
    stronger = left if abs(left.value) > abs(right.value) else right
    return Node(stronger.value if value is None else value, parts=(left, right))


def neutral(text: str) -> Node:
    """Words without sentiment, branching to the right."""
    leaves = [Node(0, word) for word in text.split()]
    return reduce(lambda right, left: join(left, right), reversed(leaves))


def under(operator: str, node: Node, rule: Rule) -> Node:
    """A node behind words that change its sentiment."""
    return join(neutral(operator), node, value=rule(node.value))


def marked(words: str, node: Node) -> Node:
    """A node behind words that leave its sentiment as it is."""
    return join(neutral(words), node)


def capitalised(node: Node) -> Node:
    """The same tree, its first word with a capital."""
    if node.word:
        return replace(node, word=node.word[0].upper() + node.word[1:])
    return replace(node, parts=(capitalised(node.parts[0]), *node.parts[1:]))


def sign(value: int) -> int:
    """1, 0 or -1."""
    return (value > 0) - (value < 0)


# `not good` is bad, `not splendid` is no more than bad; `not bad` is good.
def negated(value: int) -> int:
    """What `not` makes of it."""
    return -sign(value)


def reversed_fully(value: int) -> int:
    """What `far from` and `anything but` make of it."""
    return -2 * sign(value)


def strengthened(value: int) -> int:
    """What `very` makes of it."""
    return 2 * sign(value)


def weakened(value: int) -> int:
    """What `rather` makes of it."""
    return sign(value)


def unchanged(value: int) -> int:
    """What `nothing but` makes of it."""
    return value


def conceded(winner: int, loser: int) -> int:
    """What remains of a sentiment when an opposite one is conceded: one step less, but its sign."""
    return sign(winner) if winner * loser < 0 else winner
