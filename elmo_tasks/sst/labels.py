"""The labels of the Stanford Sentiment Treebank, with five and with two classes."""

FIVE = ("0", "1", "2", "3", "4")
"""The labels of the trees, from very negative to very positive."""

TWO = ("negative", "positive")
"""The labels of the binary task, which leaves out neutral phrases."""

NAMES = dict(zip(FIVE, ("very negative", "negative", "neutral", "positive", "very positive"), strict=True))
"""The names of the five labels in predictions."""


def two_way(label: str) -> str | None:
    """The one of `TWO` for one of `FIVE`; `None` for neutral."""
    return {"0": TWO[0], "1": TWO[0], "3": TWO[1], "4": TWO[1]}.get(label)
