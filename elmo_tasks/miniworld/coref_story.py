"""
Stories about a few entities, told sentence by sentence, with every mention known.

An entity comes by its name first, often with what it is (`Mira Oakes, an old pilot,`), and then by a shorter name, a
description (`the pilot`, `the woman`) or a pronoun. A pronoun is used only where the entity is the latest one
mentioned that it fits, within the last two sentences; a description, where it fits one entity of the story alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from elmo_tasks.miniworld import coref_tables as tables
from elmo_tasks.miniworld.annotation import Mention, Phrase
from elmo_tasks.miniworld.clause import ClausePlan, append, clause, front
from elmo_tasks.miniworld.constructions import decoy, draw_adjunct
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.pattern import parse_frame, parse_pattern
from elmo_tasks.miniworld.scene import (
    NounPhrase,
    Scene,
    fill,
    lines_of,
    named,
    occupations,
    pronoun,
    with_articles,
    word,
)
from elmo_tasks.miniworld.sentence import MAX_LENGTH, MIN_LENGTH, finished
from elmo_tasks.miniworld.subjects import FRAMES
from elmo_tasks.miniworld.world import Entity, World, part_of

SENTENCES = range(6, 13)
THINGS = (("town", 4.0), ("firm", 4.0), ("ship", 3.0), ("novel", 3.0), ("school", 2.0), ("club", 3.0))
FORMS = [("about", 66.0), ("between", 22.0), ("weather", 6.0), ("decoy", 6.0)]
PRONOUN_TAGS = ("PRP", "PRP$")
PRONOUN_REACH = 2


@dataclass(frozen=True)
class Character:
    """An entity of the story, what it is (`pilot`), and a wider word (`woman`)."""

    entity: Entity
    role: str
    wider: str

    @property
    def identifier(self) -> str:
        """The entity's."""
        return self.entity.identifier


class Story:
    """
    A story that grows by a sentence at a time.

    # Parameters

    world : `World`
        Whom it may be about.
    dice : `Dice`
        The source of choices.
    split : `str`
        Which lines of the tables may be used: `train`, `heldout` or `all`.
    """

    def __init__(self, world: World, dice: Dice, *, split: str) -> None:
        self.sentences: list[Phrase] = []
        self._world, self._dice, self._split = world, dice, split
        self._genders = {entity.identifier: entity.gender for entity in world.all_entities()}
        self._latest: dict[str, tuple[int, int]] = {}  # sentence and word of each entity's last mention
        self._introduced: set[str] = set()
        self._cast = self._draw_cast()

    def tell(self) -> None:
        """Adds a sentence."""
        while True:
            phrase = self._sentence()
            if MIN_LENGTH <= len(phrase) <= MAX_LENGTH and not self._has_stray_description(phrase):
                break
        for mention in sorted(phrase.mentions, key=lambda one: one.start):
            self._latest[mention.entity] = len(self.sentences), mention.start
        self._introduced.update(one.identifier for one in self._cast if one.role in phrase.words)
        self.sentences.append(phrase)

    def _draw_cast(self) -> list[Character]:
        scene = self._scene(self._dice.choice(self._world.entities["person"]))
        scene.used.update((scene.topic.identifier, scene.topic.stem))
        kinds = [self._dice.weighted(THINGS) for _ in range(1 + self._dice.below(2))]
        entities = [scene.topic, *(scene.another(kind) for kind in ("person", *kinds))]
        return [self._character(entity) for entity in entities]

    def _character(self, entity: Entity) -> Character:
        if entity.kind == "person":
            roles, wider = occupations(split=self._split), tuple(tables.PEOPLE[entity.gender].split())
        else:
            left, _, right = tables.ROLES[entity.kind].partition(" : ")
            mine = tuple(role for role in left.split() if part_of(role, split=self._split))
            roles, wider = mine or tuple(left.split()), tuple(right.split())
        return Character(entity, self._dice.choice(roles), self._dice.choice(wider))

    def _scene(self, topic: Entity) -> Scene:
        return Scene(self._world, self._dice, self._split, topic)

    def _sentence(self) -> Phrase:
        character = self._dice.choice(self._cast)
        scene = self._scene(character.entity)
        for one in self._cast:
            scene.used.update((one.identifier, one.entity.stem))
        form = self._dice.weighted(FORMS)
        if form == "weather":
            return finished(fill(scene, parse_pattern(scene.line(tables.WEATHER)))[0])
        if form == "decoy":
            return self._decoy(scene)
        if form == "between":
            return finished(self._between(scene))
        return finished(self._about(scene, character))

    def _about(self, scene: Scene, character: Character) -> Phrase:
        """A clause about a character, maybe with an adjunct."""
        frame = parse_frame(self._dice.choice(frame_lines(character.entity.kind, split=self._split)))
        body = clause(scene, ClausePlan(frame, self._refer(scene, character)))
        if not frame.stative and self._dice.chance(0.25):
            adjunct, label = draw_adjunct(scene)
            body = (front if self._dice.chance(0.5) else append)(body, adjunct, label=label)
        return owned(body, character.entity)

    def _decoy(self, scene: Scene) -> Phrase:
        """A clause about plain things; empty if it has a pronoun, which would refer to them."""
        phrase = decoy(scene)
        return Phrase() if pronoun_places(phrase) else finished(phrase)

    def _between(self, scene: Scene) -> Phrase:
        """A clause about a person and another character."""
        people = [one for one in self._cast if one.entity.kind == "person"]
        subject = self._dice.choice(people)
        other = self._dice.choice([one for one in self._cast if one is not subject])
        frame = parse_frame(scene.line(tables.BETWEEN))
        told = self._refer(scene, other, case="him", beside=subject)
        plan = ClausePlan(frame, self._refer(scene, subject, beside=other), about=told)
        return clause(scene, plan)

    def _refer(
        self, scene: Scene, character: Character, *, case: str = "he", beside: Character | None = None
    ) -> NounPhrase:
        """The character by whatever fits here; never by a pronoun that would fit `beside` as well."""
        entity = character.entity
        if character.identifier not in self._latest:
            return self._introduce(scene, character)
        options = [("name", 30.0)]
        if self._leads(entity) and (beside is None or beside.entity.gender != entity.gender):
            options.append(("pronoun", 70.0))
        nouns = [noun for noun in self._descriptions(character) if self._fits_alone(noun)]
        options += [(noun, 25.0) for noun in nouns]
        choice = self._dice.weighted(options)
        name = named(scene, entity)
        if choice == "name":
            return name
        if choice == "pronoun":
            return pronoun(name, case=case)
        noun = word("the") + word(choice, tag="NNS" if entity.gender == "p" else "NN")
        return replace(name, phrase=noun.mentioning(entity.identifier, form="nominal"))

    def _introduce(self, scene: Scene, character: Character) -> NounPhrase:
        """The full name, often with what the character is."""
        name = named(scene, character.entity, full=True)
        if not self._dice.chance(0.75):
            return name
        adjective = word(self._dice.choice(tables.ADJECTIVES.split()))
        if character.entity.gender == "p":
            role = word("the") + adjective + word(character.role, tag="NNS")
        else:
            role = with_articles(word("a") + adjective + word(character.role, tag="NN"))
        return replace(name, phrase=name.phrase + word(",") + role + word(","))

    def _descriptions(self, character: Character) -> list[str]:
        """What the character may be called after `the`: what it was introduced as, or a wider word."""
        return [character.role, character.wider] if character.identifier in self._introduced else [character.wider]

    def _fits_alone(self, noun: str) -> bool:
        return sum(noun in (one.role, *wider_words(one.entity)) for one in self._cast) == 1

    def _has_stray_description(self, phrase: Phrase) -> bool:
        """Whether a line of a table calls something `the ship` that is no mention, where the story has a ship."""
        nouns = {noun for one in self._cast for noun in (one.role, *wider_words(one.entity))}
        mentioned = {place for one in phrase.mentions for place in range(one.start, one.end)}
        pairs = enumerate(pairwise(text.lower() for text in phrase.words))
        return any(first == "the" and noun in nouns and place + 1 not in mentioned for place, (first, noun) in pairs)

    def _leads(self, entity: Entity) -> bool:
        """Whether the entity is the latest one mentioned of its gender, and not long ago."""
        rivals = [place for name, place in self._latest.items() if self._genders[name] == entity.gender]
        place = self._latest[entity.identifier]
        return place == max(rivals) and len(self.sentences) - place[0] <= PRONOUN_REACH


def wider_words(entity: Entity) -> tuple[str, ...]:
    """All wider words that fit an entity."""
    if entity.kind == "person":
        return tuple(tables.PEOPLE[entity.gender].split())
    return tuple(tables.ROLES[entity.kind].partition(" : ")[2].split())


def frame_lines(kind: str, *, split: str) -> list[str]:
    """The frames of a kind that belong to a split and name no pronoun outright: nobody would know who is meant."""
    pronouns = {"he", "she", "it", "they", "him", "her", "them", "his", "its", "their", "we", "us", "our"}
    return [line for line in lines_of(FRAMES[kind], split=split) if not pronouns & set(line.strip().split())]


def owned(phrase: Phrase, entity: Entity) -> Phrase:
    """The phrase with each pronoun that is no mention yet, such as `his`, as one of the entity."""
    free = [place for place in pronoun_places(phrase) if not is_mention(phrase, place)]
    mentions = tuple(Mention(place, place + 1, entity.identifier, "pronoun") for place in free)
    return replace(phrase, mentions=(*phrase.mentions, *mentions))


def pronoun_places(phrase: Phrase) -> list[int]:
    """Where pronouns stand."""
    return [place for place, token in enumerate(phrase.tokens) if token.pos in PRONOUN_TAGS]


def is_mention(phrase: Phrase, place: int) -> bool:
    """Whether the token alone is a mention."""
    return any((one.start, one.end) == (place, place + 1) for one in phrase.mentions)
