"""
Pairs of sentences by what decides their label, each family in a function from a `Source` to a pair.

In every family each label comes about with the same words in several ways, so that the words alone do not
tell it: who did it to whom, which sense a word has, what a verb says about the verb after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from elmo_tasks.miniworld import nli_tables as tables
from elmo_tasks.miniworld import phrases
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.morphology import indefinite_article, inflect_verb
from elmo_tasks.miniworld.nli_nouns import NOUN_SENSES
from elmo_tasks.miniworld.nli_verbs import VERB_SENSES
from elmo_tasks.miniworld.scene import name_form
from elmo_tasks.miniworld.world import World, part_of

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"


@dataclass(frozen=True)
class Pair:
    """Premise and hypothesis as written text, and the label."""

    premise: str
    hypothesis: str
    label: str


@dataclass(frozen=True)
class Sense:
    """What a sense is, as a noun phrase or a verb phrase; what rules it out; what people do that brings it out."""

    gloss: str
    verbal: bool
    opposite: str
    contexts: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """What a pair draws on: the names of a world, dice, and the lines of the tables that belong to a split."""

    world: World
    dice: Dice
    split: str

    def line(self, lines: Sequence[str]) -> str:
        """One of the lines that belong to the split."""
        return self.dice.choice([line for line in lines if part_of(line, split=self.split)])

    def person(self) -> str:
        """Somebody's name, or what they are by trade."""
        if self.dice.chance(0.25):
            every = [word for words in phrases.OCCUPATIONS.values() for word in words.split()]
            return f"the {self.dice.choice(('old', 'young', 'poor', 'tall'))} {self.line(every)}"
        form, title = name_form(self.dice, self.dice.choice(self.world.entities["person"]), full=False)
        return f"{title} {form}" if title else form

    def people(self) -> tuple[str, str]:
        """Two different people."""
        one = two = self.person()
        while set(one.split()) & (set(two.split()) - {"the"}):
            two = self.person()
        return one, two


def label_of(known: bool | None, claimed: bool) -> str:
    """The label of a claim where the premise says whether it is true, or says nothing (None)."""
    if known is None:
        return NEUTRAL
    return ENTAILMENT if known == claimed else CONTRADICTION


def written(text: str) -> str:
    """The text with a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def past(phrase: str, *, tag: str = "VBD") -> str:
    """A verb phrase in the past, or under another tag."""
    verb, _, rest = phrase.partition(" ")
    irregular = tables.IRREGULAR.get(verb, "").split()
    if irregular and tag in ("VBD", "VBN"):
        form = irregular[-1] if tag == "VBN" else irregular[0]
    else:
        form = inflect_verb(verb, tag)
    return f"{form} {rest}".strip()


def denied(phrase: str, dice: Dice) -> str:
    """A verb phrase in the past, denied."""
    verb, _, rest = phrase.partition(" ")
    if verb == "be":
        return f"was {dice.choice(('not', 'never'))} {rest}"
    return f"did not {phrase}" if dice.chance(0.6) else f"never {past(phrase)}"


def said(phrase: str, dice: Dice, *, true: bool) -> str:
    """A verb phrase in the past, claimed or denied."""
    return past(phrase) if true else denied(phrase, dice)


# ---- who did it to whom


def roles(source: Source) -> Pair:
    """The same two people and the same verb, in active, passive or cleft, as they were or swapped."""
    dice = source.dice
    kind = dice.weighted([("mutual", 12), ("one way", 44), ("either way", 44)])
    verbs = {"mutual": tables.MUTUAL, "one way": tables.ONE_WAY, "either way": tables.EITHER_WAY}
    verb, (agent, patient) = source.line(verbs[kind]), source.people()
    happened, claimed, swapped = dice.chance(0.6), dice.chance(0.5), dice.chance(0.5)
    known: bool | None = happened
    if swapped and kind == "one way":
        known = False if happened else None
    elif swapped and kind == "either way":
        known = None
    first = event(verb, agent, patient, dice, true=happened, passive=kind != "mutual")
    pair = (patient, agent) if swapped else (agent, patient)
    second = event(verb, *pair, dice, true=claimed, passive=kind != "mutual")
    return with_adjuncts(source, first, second, known, happened=happened, claimed=claimed)


def event(verb: str, agent: str, patient: str, dice: Dice, *, true: bool, passive: bool) -> str:
    """A clause in which one does something to another, or does not."""
    form = dice.weighted([("active", 4), ("passive", 4 * passive), ("subject first", true), ("object first", true)])
    if form == "passive":
        negation = "" if true else dice.choice(("not ", "never "))
        return f"{patient} was {negation}{past(verb, tag='VBN')} by {agent}"
    if form == "subject first":
        return f"it was {agent} that {past(verb)} {patient}"
    if form == "object first":
        return f"it was {patient} that {agent} {past(verb)}"
    return f"{agent} {said(verb, dice, true=true)} {patient}"


def with_adjuncts(
    source: Source, first: str, second: str, known: bool | None, *, happened: bool, claimed: bool
) -> Pair:
    """The pair, in which a detail of the premise may be dropped, or the hypothesis may add one that is not known."""
    dice, adjunct = source.dice, source.line(tables.ADJUNCTS)
    label = label_of(known, claimed)
    if dice.chance(0.3):
        keep = not happened or dice.chance(0.5)
        return Pair(written(f"{first} {adjunct}"), written(f"{second} {adjunct}" if keep else second), label)
    if happened and dice.chance(0.1):
        return Pair(written(first), written(f"{second} {adjunct}"), NEUTRAL if known else label)
    return Pair(written(first), written(second), label)


# ---- which sense a word has


@cache
def senses() -> dict[str, tuple[Sense, ...]]:
    """The senses of every word."""
    found: dict[str, list[Sense]] = defaultdict(list)
    lines = f"{NOUN_SENSES.strip()}\n{VERB_SENSES.strip()}".replace("\n|", " |").splitlines()
    for line in lines:
        word, what, contexts = line.split(" : ")
        gloss, _, opposite = what.partition(" / ")
        verbal = gloss.startswith("to ")
        found[word].append(Sense(gloss.removeprefix("to "), verbal, opposite, tuple(contexts.split(" | "))))
    return {word: tuple(of_word) for word, of_word in found.items()}


def sense(source: Source) -> Pair:
    """A word of several senses in the premise; the hypothesis is about the sense it has there, or about another."""
    dice = source.dice
    word = dice.choice(list(senses()))
    own = dice.choice(senses()[word])
    contexts = [context for context in own.contexts if part_of(context, split=source.split)]
    if not contexts:
        return sense(source)
    other = dice.choice([one for one in senses()[word] if one is not own])
    meant = own if dice.chance(0.6) else other
    subject, claimed = source.person(), dice.chance(0.5)
    premise = told(source, subject, dice.choice(contexts))
    hypothesis, opposed = about(meant, subject, dice, claimed=claimed)
    known = None if meant is not own else not opposed
    return Pair(written(premise), written(hypothesis), label_of(known, claimed))


def told(source: Source, subject: str, deed: str) -> str:
    """A clause in which somebody did something, maybe with words of denial that leave it true."""
    dice = source.dice
    form = dice.weighted([("plain", 10), ("adjunct", 2), ("but", 1), ("other", 1), ("fail", 1), ("manage", 1)])
    if form == "adjunct":
        return f"{source.line(tables.ADJUNCTS)} {subject} {past(deed)}"
    if form == "but":
        return f"{subject} {denied(source.line(tables.DEEDS), dice)} but {past(deed)}"
    if form == "other":
        return f"{source.person()} {denied(source.line(tables.DEEDS), dice)}, and {subject} {past(deed)}"
    if form == "fail":
        return f"{subject} did not fail to {deed}"
    return f"{subject} managed to {deed}" if form == "manage" else f"{subject} {past(deed)}"


def about(meant: Sense, subject: str, dice: Dice, *, claimed: bool) -> tuple[str, bool]:
    """A claim about a sense or a denial of it, and whether it is put by the opposite."""
    if not meant.verbal:
        return noun_claim(meant.gloss, subject, dice, claimed=claimed), False
    opposed = bool(meant.opposite) and dice.chance(0.5)
    phrase = meant.opposite if opposed else meant.gloss
    if dice.chance(0.5):
        return f"{subject} {said(phrase, dice, true=claimed)}", opposed
    return f"{subject} {said(f'fail to {phrase}', dice, true=not claimed)}", opposed


def noun_claim(gloss: str, subject: str, dice: Dice, *, claimed: bool) -> str:
    """That somebody, or the whole story, has to do with something, or has not."""
    topic = dice.choice((subject, "the story"))
    forms = ("had to do with", "had nothing to do with anything but")
    if not claimed:
        forms = ("had nothing to do with", "had to do with everything but")
    return f"{topic} {dice.choice(forms)} {gloss}"


# ---- whose deed it was


def attachment(source: Source) -> Pair:
    """Two people and one or two deeds; the hypothesis asks which of them did which."""
    dice, (one, two) = source.dice, source.people()
    deed, other = source.line(tables.DEEDS), source.line(tables.DEEDS)
    premise, truth = dice.choice(tables.ATTACHMENTS)
    who, which = dice.choice(list(truth))
    claimed = dice.chance(0.5)
    text = premise.format(a=one, b=two, deed=deed, did=past(deed), also=past(other))
    hypothesis = f"{one if who == 'a' else two} {said(deed if which == 1 else other, dice, true=claimed)}"
    return Pair(written(text), written(hypothesis), label_of(truth[who, which], claimed))


# ---- what a verb says about the next


def before_verb(source: Source) -> Pair:
    """A verb such as `fail` or `refuse`, claimed or denied, tells whether the deed after it was done."""
    dice, subject, deed = source.dice, source.person(), source.line(tables.DEEDS)
    signature = dice.choice(list(tables.BEFORE_VERBS))
    verb = dice.choice(tables.BEFORE_VERBS[signature].split("|"))
    happened, claimed = dice.chance(0.5), dice.chance(0.5)
    known = {"+": True, "-": False, "?": None}[signature[0 if happened else 1]]
    premise = f"{subject} {said(f'{verb} {deed}', dice, true=happened)}"
    hypothesis = f"{subject} {said(deed, dice, true=claimed)}"
    return Pair(written(premise), written(hypothesis), label_of(known, claimed))


# ---- the wider word


def wider_word(source: Source) -> Pair:
    """Somebody or nobody of a trade did it; the hypothesis has a wider, a narrower or another word."""
    dice, deed = source.dice, past(source.line(tables.DEEDS))
    wide, other = dice.shuffled(list(phrases.OCCUPATIONS))[:2]
    narrow = source.line(phrases.OCCUPATIONS[wide].split())
    stranger = source.line(phrases.OCCUPATIONS[other].split())
    some, claimed = dice.chance(0.5), dice.chance(0.5)
    first, second = dice.weighted([((narrow, wide), 4), ((wide, narrow), 4), ((narrow, stranger), 1)])
    follows = (first, second) == ((narrow, wide) if some else (wide, narrow))
    known = some if follows else None
    texts = [f"{quantified(noun, some=is_some)} {deed}" for noun, is_some in ((first, some), (second, claimed))]
    return Pair(written(texts[0]), written(texts[1]), label_of(known, claimed))


def quantified(noun: str, *, some: bool) -> str:
    """`a painter` or `no painter`."""
    return f"{indefinite_article(noun) if some else 'no'} {noun}"


@dataclass(frozen=True)
class Family:
    """A kind of pairs: how to make one, its share of all pairs, and the share of neutral ones among its own."""

    make: Callable[[Source], Pair]
    share: float
    neutral: float


# Where the words tell whether a claim is denied but not whether it is about the right sense, half are neutral: at a
# third, a guess that the sense is right would be right twice in three.
FAMILIES = (
    Family(sense, share=0.1, neutral=0.5),
    Family(roles, share=0.3, neutral=0.3),
    Family(attachment, share=0.45, neutral=0.35),
    Family(before_verb, share=0.1, neutral=0.2),
    Family(wider_word, share=0.05, neutral=0.2),
)
