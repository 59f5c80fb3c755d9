"""
The sentiment view, in the format of the Stanford Sentiment Treebank: reviews as binary trees, a label from 0 to 4 at
each node, a tree a line.

The label of a sentence follows from its parts: by where an opinion stands, since one inside a relative clause does not
count; by negation, degree, comparison, expectation and concession; by adjectives that praise one thing and blame
another. Held-out reviews speak of other things in other words: about three quarters of the nouns, of such pairs of
adjective and noun, of the facts and of those who judge that they draw on are never drawn on in training. The
adjectives, and the words that change a sentiment, are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from elmo_tasks.miniworld import sentiment_operators as operators
from elmo_tasks.miniworld import sentiment_tables as tables
from elmo_tasks.miniworld import sentiment_tree as rules
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.sentiment_tree import Node, Rule, capitalised, conceded, join, marked, neutral, under
from elmo_tasks.miniworld.tables import entries
from elmo_tasks.miniworld.world import part_of

SIZES = {"train": 200, "dev": 400, "test": 400}
SHARES = {-2: 16, -1: 30, 0: 8, 1: 30, 2: 16}
"""How many sentences of a hundred have each sentiment."""

VOWELS = "aeiou"


def sentiment_files(*, seed: int) -> dict[str, str]:
    """The three files, by their paths below the corpus folder."""
    seen: set[tuple[str, ...]] = set()
    files = {}
    for name, size in SIZES.items():
        trees = reviews(name, seed=seed, size=size, seen=seen)
        files[f"sst/{name}.txt"] = "".join(f"{tree}\n" for tree in trees)
    return files


def reviews(name: str, *, seed: int, size: int, seen: set[tuple[str, ...]]) -> list[Node]:
    """
    The trees of one file.

    # Parameters

    name : `str`
        `train`, `dev` or `test`.
    seed : `int`
        The seed of the world.
    size : `int`
        How many.
    seen : `set[tuple[str, ...]]`
        Sentences that must not come again; the new ones are added.
    """
    dice = Dice(seed, f"sst/{name}")
    reviewer = Reviewer(dice, split="train" if name == "train" else "heldout")
    trees: list[Node] = []
    while len(trees) < size:
        wanted = dice.weighted(list(SHARES.items()))
        tree = reviewer.sentence()
        while tree.value != wanted or tree.words in seen:
            tree = reviewer.sentence()
        seen.add(tree.words)
        trees.append(tree)
    return trees


class Reviewer:
    """
    Writes sentences.

    # Parameters

    dice : `Dice`
        The source of choices.
    split : `str`
        `train` or `heldout`: which share of the tables is used.
    """

    def __init__(self, dice: Dice, *, split: str) -> None:
        self.dice, self.split = dice, split

    def sentence(self) -> Node:
        """A sentence with its full stop."""
        topic = self.dice.choice(tuple(tables.TOPICS))
        forms = [(self.nested, 70), (self.plain, 10), (self.contrast, 12), (self.after_fact, 6), (self.fact_alone, 2)]
        form = self.dice.weighted(forms)
        return join(capitalised(form(topic)), Node(0, "."))

    def plain(self, topic: str) -> Node:
        """One clause, perhaps with an adjunct before or behind it."""
        clause = self.clause(topic)
        place = self.dice.weighted([("none", 4), ("front", 3), ("back", 4)])
        adjunct = neutral(self.pick(tables.ADJUNCTS))
        if place == "front":
            return join(join(adjunct, Node(0, ",")), clause)
        return clause if place == "none" else join(clause, adjunct)

    def contrast(self, topic: str) -> Node:
        """Two clauses, of which one prevails if they disagree."""
        first, second = self.clause(topic), self.clause(topic)
        if first.value * second.value >= 0:
            return join(first, join(Node(0, "and"), second))
        form = self.dice.below(3)
        if form == 0:
            yielding = marked(self.dice.choice(operators.YIELDING_FIRST), first)
            return join(join(yielding, Node(0, ",")), second, value=conceded(second.value, first.value))
        if form == 1:
            prevailing = marked(", " + self.dice.choice(operators.PREVAILING), second)
            return join(first, prevailing, value=conceded(second.value, first.value))
        yielding = marked(", " + self.dice.choice(operators.YIELDING_SECOND), second)
        return join(first, yielding, value=conceded(first.value, second.value))

    def after_fact(self, topic: str) -> Node:
        """Something that happened, and a clause with a sentiment."""
        fact, clause = neutral(self.pick(tables.FACTS)), self.clause(topic)
        if self.dice.chance(0.5):
            return join(fact, marked(", and", clause))
        return join(clause, marked(", and", fact))

    def fact_alone(self, topic: str) -> Node:
        """Something that happened."""
        fact = neutral(self.pick(tables.FACTS))
        adjunct = neutral(self.pick(tables.ADJUNCTS))
        return join(join(adjunct, Node(0, ",")), fact) if self.dice.chance(0.5) else fact

    def nested(self, topic: str) -> Node:
        """
        `the plot that they had called dull was lively`: what stands in the relative clause does not count. It stands
        before or behind what counts, in the same words, so that neither place nor words tell the two apart.
        """
        said, denied = self.adjective(topic), self.adjective(topic)
        while said.value * denied.value > 0:
            denied = self.adjective(topic)
        part = self.part(topic)
        relative = join(Node(0, "that"), join(neutral(self.judging()), denied))
        if self.dice.chance(0.3):
            relative = join(Node(0, "that"), join(neutral(self.pick(operators.COPULAS)), denied))
        form = self.dice.weighted([("subject", 4), ("object", 3), ("fronted", 3)])
        if form == "subject":
            return join(join(part, relative), join(neutral(self.pick(operators.COPULAS)), said), value=said.value)
        known = join(part, relative)
        opening = said if form == "fronted" else join(neutral(self.judging()), said)
        verb = join(neutral(self.pick(operators.COPULAS)), known) if form == "fronted" else known
        return join(opening, verb, value=said.value)

    def judging(self) -> str:
        """`they had called`."""
        return f"{self.pick(operators.JUDGES)} {self.pick(operators.JUDGING)}"

    def clause(self, topic: str) -> Node:
        """A clause with a sentiment."""
        forms = [(self.about_part, 36), (self.about_whole, 34), (self.about_pair, 8), (self.about_quality, 22)]
        return self.dice.weighted(forms)(topic)

    def about_part(self, topic: str) -> Node:
        """`the plot was far from good`."""
        if self.dice.chance(0.2):
            said = self.compared(self.adjective(topic))
        else:
            said = self.operated(self.graded(self.adjective(topic)))
        return join(self.part(topic), join(Node(0, "was"), said))

    def about_whole(self, topic: str) -> Node:
        """`we had hoped for a good play`."""
        noun = Node(0, self.pick_word(tables.TOPICS[topic]["whole"]))
        return self.framed(indefinite(join(self.graded(self.adjective(topic)), noun)))

    def about_pair(self, topic: str) -> Node:
        """`it was a cold beer`, `the beer was not cold`."""
        adjective, noun, value = self.dice.choice(pairs(self.split))
        if self.dice.chance(0.5):
            return self.framed(indefinite(join(Node(0, adjective), Node(0, noun), value=value)))
        rule = self.dice.weighted([("negated", 3), ("strengthened", 2), ("unchanged", 5)])
        said = Node(0, adjective)
        if rule == "strengthened":
            said = marked(self.dice.choice(entries(operators.DEGREES[rule])), said)
        elif rule == "negated":
            said = marked(self.operator(operators.OPERATORS, rule), said)
        thing = neutral(f"the {noun}")
        return join(thing, join(Node(0, "was"), said), value=RULES[rule](value))

    def about_quality(self, topic: str) -> Node:
        """`the plot was not without wit`."""
        value = self.dice.choice((-1, 1))
        noun = Node(value, self.dice.choice(entries(tables.QUALITIES[value])))
        rule = self.dice.weighted([("unchanged", 6), ("negated", 4)])
        said = under(self.operator(operators.QUALITY_OPERATORS, rule), noun, RULES[rule])
        return join(self.part(topic), join(Node(0, "was"), said))

    def framed(self, thing: Node) -> Node:
        """A noun phrase in a frame that keeps or turns its sentiment, perhaps behind an operator."""
        rule = self.dice.weighted([("unchanged", 7), ("negated", 3)])
        frame = self.operator(operators.FRAMES, rule)
        if frame == "it was":
            thing = self.operated(thing)
        return under(frame, thing, RULES[rule])

    def operated(self, node: Node) -> Node:
        """A node, most often behind an operator."""
        if self.dice.chance(0.45):
            return node
        kinds = [("negated", 6), ("reversed_fully", 2), ("strengthened", 1), ("unchanged", 3)]
        rule = self.dice.weighted(kinds)
        return under(self.operator(operators.OPERATORS, rule), node, RULES[rule])

    def compared(self, adjective: Node) -> Node:
        """`less good than the last one`."""
        rule = self.dice.choice(tuple(operators.COMPARISONS))
        before, behind = self.operator(operators.COMPARISONS, rule).split("{}")
        said = under(before, adjective, RULES[rule])
        return join(said, neutral(behind)) if behind.strip() else said

    def graded(self, adjective: Node) -> Node:
        """An adjective, perhaps behind a word of degree."""
        if self.dice.chance(0.6):
            return adjective
        rule = "strengthened" if abs(adjective.value) < 2 else "weakened"
        return under(self.dice.choice(entries(operators.DEGREES[rule])), adjective, RULES[rule])

    def adjective(self, topic: str) -> Node:
        """One that fits every topic, or this one."""
        side = self.dice.choice((1, -1))
        if self.dice.chance(0.5):
            value = side * self.dice.weighted([(1, 2), (2, 1)])
            return Node(value, self.dice.choice(entries(tables.COMMON[value])))
        return Node(side, self.dice.choice(entries(tables.TOPICS[topic]["good" if side > 0 else "bad"])))

    def part(self, topic: str) -> Node:
        """`the plot`."""
        return neutral("the " + self.pick_word(tables.TOPICS[topic]["part"]))

    def operator(self, table: dict[str, str], rule: str) -> str:
        """A line of a table that every file has."""
        return self.dice.choice(lines(table[rule]))

    def pick(self, table: str) -> str:
        """A line of this split."""
        return self.dice.choice(of_split(lines(table), self.split))

    def pick_word(self, table: str) -> str:
        """A word of this split."""
        return self.dice.choice(of_split(entries(table), self.split))


RULES: dict[str, Rule] = {
    "negated": rules.negated,
    "reversed_fully": rules.reversed_fully,
    "strengthened": rules.strengthened,
    "weakened": rules.weakened,
    "unchanged": rules.unchanged,
}


@cache
def lines(table: str) -> tuple[str, ...]:
    """The lines of a table."""
    return tuple(line.strip() for line in table.strip().splitlines())


@cache
def of_split(items: Sequence[str], split: str) -> tuple[str, ...]:
    """Those of some words or lines that belong to a split."""
    return tuple(item for item in items if part_of("sentiment/" + item, split=split))


@cache
def pairs(split: str) -> tuple[tuple[str, str, int], ...]:
    """Adjective, noun and what the two say together."""
    found = []
    for line in lines(tables.PAIRS):
        adjective, nouns = line.split(":")
        for value, side in zip((1, -1), nouns.split("/"), strict=True):
            found += [(adjective, noun, value) for noun in side.split()]
    return tuple(pair for pair in found if part_of(f"sentiment/{pair[0]} {pair[1]}", split=split))


def indefinite(node: Node) -> Node:
    """A noun phrase with its article."""
    first = node.words[0]
    article = "an" if first[0] in VOWELS or first == "honest" else "a"
    return join(Node(0, article), node)
