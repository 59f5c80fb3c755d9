"""
Filling patterns: from pattern items to tokens with annotation, in one scene of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from elmo_tasks.errors import InputError
from elmo_tasks.miniworld import lexicon, names, phrases
from elmo_tasks.miniworld.annotation import Phrase, Role, Token, join
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.morphology import indefinite_article, inflect_verb
from elmo_tasks.miniworld.pattern import Item, RolePattern, SameForm, Slot, Word, parse_pattern
from elmo_tasks.miniworld.tables import entries
from elmo_tasks.miniworld.world import LABELS, WITH_ARTICLE, Entity, World, part_of

PRONOUNS = {
    "he": {"m": "he", "f": "she", "n": "it", "p": "they"},
    "him": {"m": "him", "f": "her", "n": "it", "p": "them"},
    "his": {"m": "his", "f": "her", "n": "its", "p": "their"},
    "himself": {"m": "himself", "f": "herself", "n": "itself", "p": "themselves"},
}
NUMBERS = entries("two three four five six seven eight nine ten eleven twelve twenty thirty")
MONTHS = entries("January February March April May June July August September October November December")
WEEKDAYS = entries("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")


@dataclass(frozen=True)
class NounPhrase:
    """A realised noun phrase with what agreement needs: gender (`p` for plural) and entity."""

    phrase: Phrase
    gender: str
    entity: Entity | None = None

    @property
    def plural(self) -> bool:
        """Whether verbs take their plural form."""
        return self.gender == "p"

    @property
    def personal(self) -> bool:
        """Whether the relative pronoun is `who`."""
        return self.entity.kind == "person" if self.entity else self.gender in "mf"


@dataclass
class Scene:
    """
    What one sentence draws on.

    # Parameters

    world : `World`
        Its entities.
    dice : `Dice`
        The source of choices.
    split : `str`
        Which lines of the tables may be used: `train`, `heldout` or `all`.
    topic : `Entity`
        What the sentence is mainly about.
    """

    world: World
    dice: Dice
    split: str
    topic: Entity
    used: set[str] = field(default_factory=set)

    def line(self, table: str) -> str:
        """A line of a table that belongs to the split."""
        return self.dice.choice(lines_of(table, split=self.split))

    def another(self, kind: str) -> Entity:
        """An entity of a kind that the sentence does not name yet."""
        candidates = self.world.entities[kind]
        for _ in range(20):
            entity = self.dice.choice(candidates)
            if entity.identifier not in self.used and entity.stem not in self.used:
                break
        self.used.update((entity.identifier, entity.stem))
        return entity


@cache
def lines_of(table: str, *, split: str) -> tuple[str, ...]:
    """The lines of a table that belong to a split; all of them where the split would have none."""
    lines = [line.strip() for line in table.strip().splitlines()]
    return tuple(line for line in lines if part_of(line, split=split)) or tuple(lines)


@cache
def occupations(*, split: str) -> tuple[str, ...]:
    """The occupations that belong to a split."""
    every = " ".join(phrases.OCCUPATIONS.values()).split()
    return tuple(word for word in dict.fromkeys(every) if part_of(word, split=split))


@dataclass(frozen=True)
class Filling:
    """What the slots of one pattern agree with: gender, second verbs' tag, and the one for `{self}`."""

    gender: str = "n"
    tag: str = "VBD"
    own: NounPhrase | None = None


def word(text: str, *, tag: str | None = None, sense: str | None = None) -> Phrase:
    """One word as a phrase; the tag is looked up unless given."""
    return Phrase((lexicon.token(text, tag=tag, sense=sense),))


def words(text: str) -> Phrase:
    """Plain words, such as `as well as`, as a phrase."""
    return join(word(piece) for piece in text.split())


def fill(scene: Scene, items: Sequence[Item], filling: Filling | None = None) -> tuple[Phrase, tuple[Role, ...]]:
    """
    The phrase for some pattern items, and the roles in it.

    # Raises

    `InputError` where a slot or a word is not known.
    """
    whole, roles = Phrase(), []
    for item in items:
        start = len(whole)
        if isinstance(item, RolePattern):
            whole = whole + fill(scene, item.items, filling)[0]
            roles.append(Role(start, len(whole), item.label))
        else:
            piece = fill_one(scene, item, filling or Filling())
            doubled = whole.words[-1:] == piece.words[:1] == ["the"]
            whole = whole + (piece.without(0) if doubled else piece)
    return with_articles(whole), tuple(roles)


def fill_one(scene: Scene, item: Item, filling: Filling) -> Phrase:
    """The phrase for one word, slot or second verb."""
    if isinstance(item, Word):
        return word(item.text, tag=item.tag, sense=item.sense)
    if isinstance(item, SameForm):
        form = inflect_verb(item.lemma, filling.tag, plural=filling.gender == "p")
        return Phrase((Token(form, item.lemma, filling.tag),))
    if isinstance(item, Slot):
        return fill_slot(scene, item.name, filling)
    raise InputError(f"expected a word, slot or second verb, found {item!r}")


def fill_slot(scene: Scene, name: str, filling: Filling) -> Phrase:
    """The phrase for a slot."""
    if name in ("self", "any") and filling.own is not None:
        return filling.own.phrase
    if name in PRONOUNS:
        tag = {"his": "PRP$"}.get(name, "PRP")
        return Phrase((Token(PRONOUNS[name][filling.gender], PRONOUNS["he"][filling.gender], tag),))
    if name in LABELS:
        return named(scene, scene.another(name)).phrase
    if name == "home":
        return named(scene, scene.world.relations[scene.topic.identifier, "home"]).phrase
    if name == "country.adj":
        return demonym(scene.another("country"))
    if name == "occupation":
        return word(scene.dice.choice(occupations(split=scene.split)), tag="NN")
    return fill_quantity(scene.dice, name)


def fill_quantity(dice: Dice, name: str) -> Phrase:
    """The phrase for a number, a date or a sum."""
    if name == "number":
        return word(dice.choice(NUMBERS), tag="CD")
    if name == "few":
        return word(dice.choice(NUMBERS[:8]), tag="CD")
    if name == "year":
        return word(str(1820 + dice.below(130)), tag="CD")
    if name == "count":
        return word(f"{1 + dice.below(60)},{dice.below(10)}00", tag="CD")
    if name == "month":
        return word(dice.choice(MONTHS), tag="NNP")
    if name == "weekday":
        return word(dice.choice(WEEKDAYS), tag="NNP")
    if name == "money":
        million = word(dice.choice(NUMBERS), tag="CD") + word("million", tag="CD")
        small = word(f"{2 + dice.below(90)},000", tag="CD")
        return (million if dice.chance(0.5) else small) + word("pounds")
    raise InputError(f"expected a slot of the pattern language, found {{{name}}}")


def with_articles(phrase: Phrase) -> Phrase:
    """The phrase with each `a` turned into `an` where the next word asks for it."""
    if not any(token.text == "a" for token in phrase.tokens):
        return phrase
    tokens = list(phrase.tokens)
    for place, following in enumerate(tokens[1:]):
        if tokens[place].text == "a" and tokens[place].pos == "DT":
            tokens[place] = replace(tokens[place], text=indefinite_article(following.text))
    return replace(phrase, tokens=tuple(tokens))


def demonym(country: Entity) -> Phrase:
    """The adjective for a country, a name of type MISC."""
    return word(names.demonym(country.forms[0]), tag="JJ").named("MISC")


def named(scene: Scene, entity: Entity, *, full: bool = False) -> NounPhrase:
    """
    An entity by its name, after its title or article where it has one.

    # Parameters

    full : `bool`, optional
        Whether people are called by first name and surname.
    """
    scene.used.update((entity.identifier, entity.stem))
    form, title = name_form(scene.dice, entity, full=full)
    name = proper(form).named(entity.label)
    if entity.kind in WITH_ARTICLE:
        name = word("the") + name
    whole = (proper(title) + name) if title else name
    return NounPhrase(whole.mentioning(entity.identifier, form="name"), entity.gender, entity)


def name_form(dice: Dice, entity: Entity, *, full: bool) -> tuple[str, str]:
    """The name in one of its forms, and a title or an empty string."""
    if entity.kind == "person":
        surname, first, both, initial = entity.forms
        titles = ("Mr", "Captain", "Dr") if entity.gender == "m" else ("Mrs", "Miss", "Dr")
        if full:
            return both, ""
        forms = ((surname, ""), 60), ((both, ""), 18), ((first, ""), 8), ((initial, ""), 3)
        return dice.weighted([*forms, ((surname, dice.choice(titles)), 8)])
    short, long = entity.forms[0], entity.forms[-1]
    return (short if dice.chance(0.65) else long), ""


def proper(text: str) -> Phrase:
    """The tokens of a proper name."""
    tags = {"and": "CC", "&": "CC", "The": "DT"}
    return Phrase(tuple(Token(t, t, tags.get(t, "NNP")) for t in text.split()))


def pronoun(noun: NounPhrase, *, case: str = "he") -> NounPhrase:
    """The pronoun for a noun phrase, referring to the same entity."""
    text = PRONOUNS[case][noun.gender]
    phrase = Phrase((Token(text, PRONOUNS["he"][noun.gender], "PRP"),))
    if noun.entity is not None:
        phrase = phrase.mentioning(noun.entity.identifier, form="pronoun")
    return replace(noun, phrase=phrase)


def described(scene: Scene, pattern: str, *, own: NounPhrase | None, gender: str) -> NounPhrase:
    """A noun phrase from a pattern, in which `{self}` stands for `own`."""
    phrase, _ = fill(scene, parse_pattern(pattern), Filling(gender=gender, own=own))
    return NounPhrase(phrase, gender)
