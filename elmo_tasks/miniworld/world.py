"""
The state of a small world: its people, places, organisations and works, and how they hang together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from elmo_tasks.miniworld import names
from elmo_tasks.miniworld.dice import Dice, stable_number

LABELS = {
    "person": "PER",
    "town": "LOC",
    "river": "LOC",
    "country": "LOC",
    "firm": "ORG",
    "club": "ORG",
    "school": "ORG",
    "paper": "ORG",
    "party": "ORG",
    "novel": "MISC",
    "ship": "MISC",
    "prize": "MISC",
    "war": "MISC",
}

# How many entities of each kind a world has for every hundred people.
SHARES = {
    "person": 100,
    "town": 60,
    "river": 14,
    "country": 10,
    "firm": 50,
    "club": 24,
    "school": 16,
    "paper": 16,
    "party": 10,
    "novel": 22,
    "ship": 18,
    "prize": 12,
    "war": 10,
}

WITH_ARTICLE = frozenset(("river", "paper", "ship", "prize", "war"))
TRAIN_SHARE, SHARED_SHARE = 0.35, 0.15


@dataclass(frozen=True)
class Entity:
    """
    Something that has a name.

    # Parameters

    identifier : `str`
        Unique in its world, such as `town:7`.
    kind : `str`
        One of the keys of `LABELS`.
    stem : `str`
        The stem of its name; for people the surname.
    forms : `tuple[str, ...]`
        The names it goes by, tokens separated by spaces, the shortest first.
    gender : `str`
        `f`, `m` or `n`; `p` for those spoken of as `they`.
    """

    identifier: str
    kind: str
    stem: str
    forms: tuple[str, ...]
    gender: str

    @property
    def label(self) -> str:
        """The CoNLL-2003 type of its name."""
        return LABELS[self.kind]


@dataclass
class World:
    """Entities by kind, and their relations as `(entity, relation) -> entity`."""

    entities: dict[str, list[Entity]] = field(default_factory=dict)
    relations: dict[tuple[str, str], Entity] = field(default_factory=dict)

    def all_entities(self) -> list[Entity]:
        """Every entity, kind by kind."""
        return [entity for kind in LABELS for entity in self.entities.get(kind, [])]


def part_of(text: str, *, split: str) -> bool:
    """
    Whether a name or a line of a table belongs to a split.

    Three shares: used for training alone, used everywhere, held out alone. A text keeps its share
    whatever is added beside it.

    # Parameters

    text : `str`
        The name or the line.
    split : `str`
        `train`, `heldout`, or `all` for everything.
    """
    place = stable_number("split/" + text)
    if split == "train":
        return place < TRAIN_SHARE + SHARED_SHARE
    return split == "all" or place >= TRAIN_SHARE


def build_world(dice: Dice, *, people: int, stems: int, split: str) -> World:
    """
    A world whose names belong to `split`.

    # Parameters

    dice : `Dice`
        The source of choices.
    people : `int`
        How many people there are; the other kinds follow in proportion.
    stems : `int`
        From how many stems its names are made: the fewer, the more often one serves several kinds.
    split : `str`
        `train`, `heldout` or `all`.
    """
    every = [s for s in (*names.composed_stems(), *names.COMMON_WORDS) if part_of(s, split=split)]
    chosen = dice.shuffled(every)[:stems]
    world = World()
    for kind, share in SHARES.items():
        count = max(4, share * people // 100)
        world.entities[kind] = [
            build_entity(dice, kind=kind, number=number, stems=chosen, split=split) for number in range(count)
        ]
    relate(world, dice)
    return world


def build_entity(dice: Dice, *, kind: str, number: int, stems: Sequence[str], split: str) -> Entity:
    """One entity with its names."""
    stem, other = dice.choice(stems), dice.choice(stems)
    gender = dice.choice("mf") if kind == "person" else gender_of(kind)
    first = dice.choice(first_names(gender if kind == "person" else dice.choice("mf"), split=split))
    forms = NAMING[kind](dice, stem, other, first)
    return Entity(f"{kind}:{number}", kind, stem, forms, gender)


def gender_of(kind: str) -> str:
    """The gender of pronouns for a kind other than people."""
    return {"club": "p", "ship": "f"}.get(kind, "n")


@cache
def first_names(gender: str, *, split: str) -> tuple[str, ...]:
    """First names of one gender that belong to a split."""
    every = names.WOMEN if gender == "f" else names.MEN
    return tuple(name for name in every if part_of(name, split=split))


def relate(world: World, dice: Dice) -> None:
    """Draw the relations: every entity has a home town, people an employer and a friend."""
    for entity in world.all_entities():
        world.relations[entity.identifier, "home"] = dice.choice(world.entities["town"])
        if entity.kind == "person":
            world.relations[entity.identifier, "employer"] = dice.choice(world.entities["firm"])
            world.relations[entity.identifier, "friend"] = dice.choice(world.entities["person"])


def name_person(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """Surname, first name, both, and surname with an initial."""
    return (stem, first, f"{first} {stem}", f"{first[0]}. {stem}")


def name_town(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem, sometimes after a word such as `New`."""
    prefix = dice.weighted([("", 85), ("New ", 4), ("Upper ", 3), ("Great ", 3), ("Port ", 5)])
    return (prefix + stem,)


def name_country(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem alone, or with an ending."""
    return (stem if dice.chance(0.4) else names.country_name(stem),)


def name_firm(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem alone, with a word such as `Steel`, or the names of its owners."""
    endings = "Brothers", "Steel", "Bank", "& Sons", "Mills", "Motors", "Shipping", "& Co."
    long = dice.weighted([(f"{stem} {dice.choice(endings)}", 6), (f"{stem} and {other}", 3), (f"{first} {stem}", 2)])
    return (stem, long) if dice.chance(0.7) else (long,)


def name_club(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem alone, or with a word such as `Rovers`."""
    return (stem, f"{stem} {dice.choice(('United', 'Rovers', 'Athletic', 'Wanderers', 'Town'))}")


def name_school(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem alone, or with a word such as `College`."""
    return (stem, f"{stem} {dice.choice(('College', 'Academy', 'University', 'Hall'))}")


def name_paper(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The title with or without the stem, or the stem alone."""
    title = dice.choice(("Echo", "Gazette", "Herald", "Courier", "Mercury", "Observer", "Star"))
    return (f"{stem} {title}", title) if dice.chance(0.6) else (stem,)


def name_party(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem, or what it stands for."""
    if dice.chance(0.5):
        return (dice.choice(("Land", "Labour", "Order", "Liberty", "Peasant")) + " League", stem)
    return (stem, f"{stem} Party")


def name_novel(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """A title: a name, two names, or a phrase."""
    adjective = dice.choice(("Glass", "Silent", "Burning", "Hollow", "Bitter", "Distant", "Broken"))
    noun = dice.choice(("Orchard", "Garden", "Bridge", "Crown", "Mirror", "Season", "Lantern"))
    titles = [(stem, 5), (f"{first} {stem}", 3), (f"The {adjective} {noun}", 4), (first, 2)]
    return (dice.weighted([*titles, (f"{stem} and {other}", 1)]),)


def name_ship(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """A stem, a first name, or both."""
    return (dice.weighted([(stem, 6), (f"{first} {stem}", 3), (first, 2)]),)


def name_prize(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem alone, or with a word such as `Cup`."""
    return (stem, f"{stem} {dice.choice(('Prize', 'Cup', 'Medal', 'Trophy'))}")


def name_war(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem with a word such as `War`."""
    return (f"{stem} {dice.choice(('War', 'Rising', 'Campaign'))}",)


def name_river(dice: Dice, stem: str, other: str, first: str) -> tuple[str, ...]:
    """The stem."""
    return (stem,)


# From two stems and a first name to the names of an entity, the shortest first.
NAMING = {
    "person": name_person,
    "town": name_town,
    "river": name_river,
    "country": name_country,
    "firm": name_firm,
    "club": name_club,
    "school": name_school,
    "paper": name_paper,
    "party": name_party,
    "novel": name_novel,
    "ship": name_ship,
    "prize": name_prize,
    "war": name_war,
}
