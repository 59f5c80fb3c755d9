"""The labels of the Stanford Sentiment Treebank, in five classes and in two."""

FIVE = ("0", "1", "2", "3", "4")
"""As the trees have them, from very negative to very positive."""

TWO = ("negative", "positive")
"""What 0 and 1, 3 and 4 become where neutral phrases are left out."""

NAMES = dict(zip(FIVE, ("very negative", "negative", "neutral", "positive", "very positive"), strict=True))
"""What predictions call the five labels."""


def two_way(label: str) -> str | None:
    """The one of `TWO` that one of `FIVE` belongs to; `None` for neutral."""
    return {"0": TWO[0], "1": TWO[0], "3": TWO[1], "4": TWO[1]}.get(label)
