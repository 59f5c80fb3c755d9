"""
Events among a few entities, and the sentences that tell them.

The cast of a passage is small and every entity takes part in several events: neither the kind of event nor the
other participant alone tells the answer to a question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import NamedTuple

from elmo_tasks.miniworld import names, qa_tables
from elmo_tasks.miniworld.annotation import Frame, Phrase, Role, join
from elmo_tasks.miniworld.clause import ClausePlan, VerbGroup, predicate_place, verb_group
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.pattern import VerbFrame, parse_pattern
from elmo_tasks.miniworld.scene import NounPhrase, Scene, fill, lines_of, named, word, words
from elmo_tasks.miniworld.sentence import finished
from elmo_tasks.miniworld.tables import entries
from elmo_tasks.miniworld.world import Entity, build_entity, part_of

AGENT, PATIENT, TIME, PLACE, CAUSE = "A0", "A1", "AM-TMP", "AM-LOC", "AM-CAU"
ADJUNCTS = {TIME: (qa_tables.TIMES, 0.75), PLACE: (qa_tables.PLACES, 0.5), CAUSE: (qa_tables.CAUSES, 0.4)}
AGENTS, PATIENTS, KINDS_OF_EVENT, EVENTS = 2, 2, 5, 6
EXTRAS = {"person": 1, "town": 2, "firm": 1}


@dataclass(frozen=True)
class Verb:
    """A verb, the preposition that belongs to it or an empty string, and whether its subject is the patient."""

    lemma: str
    preposition: str = ""
    converse: bool = False


@dataclass(frozen=True)
class Event:
    """
    What happened.

    # Parameters

    verbs : `tuple[Verb, ...]`
        All that may tell it.
    agent, patient : `Entity`
    adjuncts : `dict[str, Phrase]`
        Time, place and cause, those that are known, by their labels.
    """

    verbs: tuple[Verb, ...]
    agent: Entity
    patient: Entity
    adjuncts: dict[str, Phrase] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Telling:
    """An event with the verb and the voice in which it is told."""

    event: Event
    verb: Verb
    passive: bool


class Told(NamedTuple):
    """A sentence, and the events that its first frames tell, in their order."""

    phrase: Phrase
    tellings: list[Telling]


def cast_of(dice: Dice, kinds: Sequence[str], *, split: str) -> dict[str, list[Entity]]:
    """Entities of these kinds, and a few others, no two of which share a name."""
    known, composed = (iter(dice.shuffled(stems)) for stems in stems_of(split))
    cast: dict[str, list[Entity]] = {}
    taken: set[str] = set()
    for kind in (*kinds, *(kind for kind, count in EXTRAS.items() for _ in range(count))):
        number, stems = len(cast.get(kind, [])), known if dice.chance(qa_tables.KNOWN_SHARE) else composed
        while True:
            entity = build_entity(dice, kind=kind, number=number, stems=(next(stems), next(stems)), split=split)
            pieces = {piece for form in entity.forms for piece in form.split() if piece[0].isupper()}
            if not pieces & taken:
                break
        taken |= pieces
        cast.setdefault(kind, []).append(recognisable(entity))
    return cast


def recognisable(entity: Entity) -> Entity:
    """The entity without names that nobody could know to be its own: a first name alone."""
    if entity.kind != "person":
        return entity
    surname, _, *longer = entity.forms
    return replace(entity, forms=(surname, surname, *longer))


@cache
def stems_of(split: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stems that belong to a split: those that general text knows, and the others."""
    tables = (entries(qa_tables.NAMES), names.composed_stems())
    known, composed = (tuple(stem for stem in table if part_of(stem, split=split)) for table in tables)
    return known, composed


def parse_verbs(line: str) -> tuple[Verb, ...]:
    """The verbs of one line of an event table."""
    direct, _, converse = line.partition("<")
    pairs = [(text, False) for text in direct.split()] + [(text, True) for text in converse.split()]
    return tuple(Verb(text.partition(":")[0], text.partition(":")[2], turned) for text, turned in pairs)


def make_events(scene: Scene, kinds: tuple[str, str]) -> list[Event]:
    """Several events between entities of two kinds, each pair and each kind of event in more than one of them."""
    dice, cast = scene.dice, scene.world.entities
    agents, patients = dice.shuffled(cast[kinds[0]])[:AGENTS], dice.shuffled(cast[kinds[1]])[:PATIENTS]
    if kinds[0] == kinds[1]:
        agents = patients = dice.shuffled(cast[kinds[0]])[: AGENTS + 1]
    lines = dice.shuffled(lines_of(qa_tables.EVENTS[kinds], split=scene.split))[:KINDS_OF_EVENT]
    verbs = [parse_verbs(line) for line in lines]
    possible = [Event(v, a, p) for v, a, p in product(verbs, agents, patients) if a is not p]
    seen: set[tuple[str, ...]] = set()
    return [replace(event, adjuncts=draw_adjuncts(scene, seen)) for event in dice.shuffled(possible)[:EVENTS]]


def draw_adjuncts(scene: Scene, seen: set[tuple[str, ...]]) -> dict[str, Phrase]:
    """Some of time, place and cause, at least one of them, and none that is in `seen`, to which they are added."""
    drawn: dict[str, Phrase] = {}
    while not drawn:
        for label, (table, share) in ADJUNCTS.items():
            phrase = fill(scene, parse_pattern(scene.line(table)))[0]
            if scene.dice.chance(share) and tuple(phrase.words) not in seen:
                seen.add(tuple(phrase.words))
                drawn[label] = phrase
    return drawn


def draw_telling(dice: Dice, event: Event) -> Telling:
    """A random verb, and a random voice where the verb has a passive."""
    verb = dice.choice(event.verbs)
    return Telling(event, verb, not verb.preposition and not verb.converse and dice.chance(0.45))


def subject_and_object(telling: Telling) -> tuple[str, str]:
    """The roles of the grammatical subject and of what follows the verb."""
    turned = telling.passive or telling.verb.converse
    return (PATIENT, AGENT) if turned else (AGENT, PATIENT)


def participant(event: Event, role: str) -> Entity:
    """The agent or the patient."""
    return event.agent if role == AGENT else event.patient


def noun_of(scene: Scene, event: Event, role: str) -> NounPhrase:
    """The agent or the patient by one of its names."""
    return named(scene, participant(event, role))


def verbs_of(telling: Telling, subject: NounPhrase, *, inverted: bool = False) -> VerbGroup:
    """The verbs in the past."""
    frame = VerbFrame(telling.verb.lemma, "event", (), AGENT, stative=False, passive=True)
    plan = ClausePlan(frame, subject, passive=telling.passive)
    return verb_group(plan, plural=subject.plural, inverted=inverted)


def preposition_of(telling: Telling) -> Phrase:
    """What stands between verb and object: `by`, the verb's own preposition, or nothing."""
    text = "by" if telling.passive else telling.verb.preposition
    return words(text) if text else Phrase()


def assemble(parts: Sequence[tuple[str, Phrase]], lemma: str) -> Phrase:
    """
    The parts in a row, with one frame over them.

    # Parameters

    parts : `Sequence[tuple[str, Phrase]]`
        Labels and phrases: a role, `V` for the verbs, or an empty string.
    """
    whole, roles, place = Phrase(), [], 0
    for label, phrase in parts:
        start = len(whole)
        if label == "V":
            place = start + predicate_place(VerbGroup(phrase.tokens, ""))
        elif label:
            roles.append(Role(start, start + len(phrase), label))
        whole = whole + phrase
    return replace(whole, frames=(Frame(place, lemma, "event", tuple(roles)),))


def tell(scene: Scene, telling: Telling, *, subject: Phrase | None = None, fronted: bool = False) -> Phrase:
    """
    A clause about an event, without a full stop; its frame has the roles of the event, whoever is the subject.

    # Parameters

    subject : `Phrase`, optional
        A relative pronoun in place of the subject.
    fronted : `bool`
        Whether one of the adjuncts stands before the subject.
    """
    event, (first, second) = telling.event, subject_and_object(telling)
    noun = noun_of(scene, event, first)
    opening: list[tuple[str, Phrase]] = [(first, noun.phrase)] if subject is None else [("", subject)]
    adjuncts = scene.dice.shuffled(list(event.adjuncts.items()))
    if fronted:
        label, phrase = adjuncts.pop()
        opening = [(label, phrase), ("", word(",")), *opening]
    verbs = [("V", Phrase(verbs_of(telling, noun).tokens)), ("", preposition_of(telling))]
    return assemble([*opening, *verbs, (second, noun_of(scene, event, second).phrase), *adjuncts], telling.verb.lemma)


def tell_all(scene: Scene, events: Sequence[Event]) -> list[Told]:
    """The sentences that tell all these events."""
    told, left = [], list(events)
    while left:
        first = draw_telling(scene.dice, left.pop(0))
        form = scene.dice.weighted([("alone", 62), ("and", 18), ("who", 20)])
        if form == "alone" or not left:
            told.append(Told(finished(tell(scene, first, fronted=scene.dice.chance(0.3))), [first]))
        elif form == "and":
            second = draw_telling(scene.dice, left.pop(0))
            link = words(scene.dice.choice((", and", ", but", "while", "before")))
            told.append(Told(finished(join([tell(scene, first), link, tell(scene, second)])), [first, second]))
        else:
            second = draw_telling(scene.dice, take_same_subject(scene, first, left))
            told.append(Told(with_relative(scene, first, second), [first, second]))
    return told


def take_same_subject(scene: Scene, first: Telling, left: list[Event]) -> Event:
    """The first of the events left in which the first one's subject takes part, or simply the next."""
    entity = participant(first.event, subject_and_object(first)[0])
    place = next((i for i, event in enumerate(left) if entity in (event.agent, event.patient)), 0)
    return left.pop(place)


def with_relative(scene: Scene, first: Telling, second: Telling) -> Phrase:
    """The first event, and the second in a relative clause if the first one's last participant is one of its own."""
    role = subject_and_object(first)[1]
    antecedent = participant(first.event, role)
    aligned = aligned_subject(second, antecedent)
    if aligned is None:
        return finished(join([tell(scene, first), words(", and"), tell(scene, second)]))
    main = tell(scene, replace(first, event=replace(first.event, adjuncts={})), fronted=False)
    pronoun = word("who" if antecedent.kind == "person" else "which")
    inner = tell(scene, aligned, subject=pronoun)
    own = next(r for r in main.frames[0].roles if r.label == role)
    adjoined = join([main, word(","), inner])
    frame = adjoined.frames[1]
    linked = Role(own.start, own.end, subject_and_object(aligned)[0])
    frames = (adjoined.frames[0], replace(frame, roles=(linked, *frame.roles)))
    return finished(replace(adjoined, frames=frames))


def aligned_subject(telling: Telling, entity: Entity) -> Telling | None:
    """The telling in the voice that makes the entity its subject; None where there is none."""
    wanted = AGENT if telling.event.agent is entity else PATIENT if telling.event.patient is entity else None
    candidates = [replace(telling, passive=passive) for passive in (False, True)]
    if telling.verb.preposition or telling.verb.converse:
        candidates = candidates[:1]
    return next((one for one in candidates if subject_and_object(one)[0] == wanted), None)
