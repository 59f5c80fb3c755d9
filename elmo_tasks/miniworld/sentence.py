"""
Whole sentences: a topic, a construction, and the annotated tokens that come of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from elmo_tasks.miniworld.annotation import Phrase
from elmo_tasks.miniworld.constructions import CONSTRUCTIONS
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.scene import Scene, word
from elmo_tasks.miniworld.world import World

MIN_LENGTH, MAX_LENGTH = 4, 35

TOPIC_WEIGHTS = [
    ("person", 28.0),
    ("town", 20.0),
    ("firm", 17.0),
    ("club", 8.0),
    ("country", 6.0),
    ("novel", 8.0),
    ("ship", 7.0),
    ("river", 4.0),
    ("school", 5.0),
    ("paper", 5.0),
    ("party", 4.0),
    ("prize", 3.0),
    ("war", 2.0),
]


@dataclass(frozen=True)
class Sentence:
    """A finished sentence: its annotated tokens, its construction and the entity it is about."""

    phrase: Phrase
    construction: str
    topic: str

    @property
    def words(self) -> list[str]:
        """The texts of the tokens."""
        return self.phrase.words


def make_sentence(world: World, dice: Dice, *, split: str) -> Sentence:
    """
    A random sentence about the world, of 4 to 35 tokens.

    # Parameters

    world : `World`
        What the sentence may name.
    dice : `Dice`
        The source of choices.
    split : `str`
        Which lines of the tables may be used: `train`, `heldout` or `all`.
    """
    while True:
        topic = dice.choice(world.entities[dice.weighted(TOPIC_WEIGHTS)])
        weights = [(name, weight) for name, (_, weight) in CONSTRUCTIONS.items()]
        construction = dice.weighted(weights)
        scene = Scene(world, dice, split, topic)
        scene.used.update((topic.identifier, topic.stem))
        phrase = finished(CONSTRUCTIONS[construction][0](scene))
        if MIN_LENGTH <= len(phrase) <= MAX_LENGTH:
            return Sentence(phrase, construction, topic.identifier)


def finished(phrase: Phrase) -> Phrase:
    """The phrase with a capital at its start, a full stop, and no comma beside another mark."""
    closed = phrase.words[-1] in (".", "?", "!")
    whole = phrase if closed else phrase + word(".")
    for place in reversed(range(len(whole) - 1)):
        if whole.words[place] == "," and whole.words[place + 1] in (",", ".", "?"):
            whole = whole.without(place)
    return whole.capitalised()
