"""
Constructions of the role-labelling view: one event of transfer in all the orders that English has for it (both orders
of the objects, their two passives, with or without the giver, relative clauses on either object), and a clause that is
cut in two by who says it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from elmo_tasks.miniworld import srl_tables
from elmo_tasks.miniworld.annotation import Frame, Phrase, Role
from elmo_tasks.miniworld.clause import (
    ClausePlan,
    VerbGroup,
    append,
    clause,
    front,
    number_of,
    predicate,
    predicate_place,
    subject_role,
    verb_group,
)
from elmo_tasks.miniworld.constructions import draw_adjunct, other_clause, with_role
from elmo_tasks.miniworld.pattern import VerbFrame, parse_frame, parse_pattern
from elmo_tasks.miniworld.scene import NounPhrase, Scene, described, word
from elmo_tasks.miniworld.subjects import plan_for, someone

Part = tuple[str, Phrase]
"""A role, or an empty string, or `V` for the verbs; and its words."""


@dataclass(frozen=True)
class Transfer:
    """Who transfers what to whom, and by which verb."""

    frame: VerbFrame
    giver: NounPhrase
    thing: NounPhrase
    taker: NounPhrase
    tense: str

    def verbs(self, subject: NounPhrase, *, passive: bool = False) -> VerbGroup:
        """The verbs for a grammatical subject."""
        plan = ClausePlan(self.frame, subject, self.tense, passive=passive)
        return verb_group(plan, plural=subject.plural)


def transfer(scene: Scene) -> Phrase:
    """An event of transfer, maybe with an adjunct before or after it."""
    event = draw_transfer(scene)
    body = scene.dice.weighted(ORDERS)(scene, event)
    if scene.dice.chance(0.5):
        return body
    adjunct, label = draw_adjunct(scene)
    return (front if scene.dice.chance(0.5) else append)(body, adjunct, label=label)


def draw_transfer(scene: Scene) -> Transfer:
    """A random event."""
    tense = scene.dice.weighted([("past", 8), ("past_perfect", 1), ("will", 1), ("present_perfect", 1)])
    frame = parse_frame(scene.line(srl_tables.TRANSFER_VERBS))
    giver, thing = drawn(scene, srl_tables.GIVERS), drawn(scene, srl_tables.THINGS)
    return Transfer(frame, giver, thing, drawn(scene, srl_tables.TAKERS), tense)


def drawn(scene: Scene, table: str) -> NounPhrase:
    """A noun phrase from a table."""
    line = scene.line(table)
    return described(scene, line, own=None, gender=number_of(parse_pattern(line)))


def assembled(frame: VerbFrame, group: VerbGroup, *parts: Part) -> Phrase:
    """The parts in a row, with the frame of the verbs among them first."""
    whole, roles, place = Phrase(), [], 0
    for label, phrase in parts:
        start = len(whole)
        whole = whole + phrase
        if label == "V":
            place = start + predicate_place(group)
        elif label:
            roles.append(Role(start, len(whole), label))
    return replace(whole, frames=(Frame(place, frame.lemma, frame.sense, tuple(roles)), *whole.frames))


def to(noun: NounPhrase) -> Part:
    """The taker after `to`."""
    return "A2", word("to") + noun.phrase


def by_giver(scene: Scene, event: Transfer) -> tuple[Part, ...]:
    """The giver of a passive after `by`, or nobody."""
    return (("A0", word("by") + event.giver.phrase),) if scene.dice.chance(0.5) else ()


def with_to(scene: Scene, event: Transfer) -> Phrase:
    """`X gave Y to Z`."""
    group = event.verbs(event.giver)
    giver, thing = ("A0", event.giver.phrase), ("A1", event.thing.phrase)
    return assembled(event.frame, group, giver, ("V", Phrase(group.tokens)), thing, to(event.taker))


def shifted(scene: Scene, event: Transfer) -> Phrase:
    """`X gave Z Y`."""
    group = event.verbs(event.giver)
    giver, taker = ("A0", event.giver.phrase), ("A2", event.taker.phrase)
    return assembled(event.frame, group, giver, ("V", Phrase(group.tokens)), taker, ("A1", event.thing.phrase))


def thing_passive(scene: Scene, event: Transfer) -> Phrase:
    """`Y was given to Z by X`."""
    group = event.verbs(event.thing, passive=True)
    start = ("A1", event.thing.phrase), ("V", Phrase(group.tokens)), to(event.taker)
    return assembled(event.frame, group, *start, *by_giver(scene, event))


def taker_passive(scene: Scene, event: Transfer) -> Phrase:
    """`Z was given Y by X`."""
    group = event.verbs(event.taker, passive=True)
    start = ("A2", event.taker.phrase), ("V", Phrase(group.tokens)), ("A1", event.thing.phrase)
    return assembled(event.frame, group, *start, *by_giver(scene, event))


def thing_relative(scene: Scene, event: Transfer) -> Phrase:
    """`Y that X gave to Z vanished`."""
    group = event.verbs(event.giver)
    start = ("A1", event.thing.phrase), ("R-A1", word("that", tag="WDT")), ("A0", event.giver.phrase)
    noun = assembled(event.frame, group, *start, ("V", Phrase(group.tokens)), to(event.taker))
    return with_fate(scene, replace(event.thing, phrase=noun))


def passive_relative(scene: Scene, event: Transfer) -> Phrase:
    """`Y that was given to Z by X vanished`."""
    group = event.verbs(event.thing, passive=True)
    start = ("A1", event.thing.phrase), ("R-A1", word("that", tag="WDT")), ("V", Phrase(group.tokens))
    noun = assembled(event.frame, group, *start, to(event.taker), *by_giver(scene, event))
    return with_fate(scene, replace(event.thing, phrase=noun))


def with_fate(scene: Scene, subject: NounPhrase) -> Phrase:
    """A clause about what became of something."""
    return clause(scene, plan_for(scene, parse_frame(scene.line(srl_tables.FATES)), subject))


ORDERS: list[tuple[Callable[[Scene, Transfer], Phrase], float]] = [
    (with_to, 5.0),
    (shifted, 6.0),
    (thing_passive, 5.0),
    (taker_passive, 5.0),
    (thing_relative, 3.0),
    (passive_relative, 2.0),
]


def said_between(scene: Scene) -> Phrase:
    """`The bridge , the miller said , fell in the rain`: what is said is cut in two."""
    subject = someone(scene) if scene.dice.chance(0.3) else drawn(scene, srl_tables.THINGS)
    plan = plan_for(scene, parse_frame(scene.line(srl_tables.FATES)), subject)
    rest, noun = predicate(scene, plan)
    speaker = drawn(scene, srl_tables.GIVERS)
    frame = parse_frame(scene.line(srl_tables.SAYINGS))
    group = verb_group(ClausePlan(frame, speaker), plural=speaker.plural)
    comma = ("", word(","))
    start = ("A1", noun.phrase), comma, ("A0", speaker.phrase), ("V", Phrase(group.tokens)), comma
    whole = assembled(frame, group, *start, ("C-A1", rest))
    inner = Role(0, len(noun.phrase), subject_role(plan))
    return with_role(whole, frame=1, role=inner)


def said_before(scene: Scene) -> Phrase:
    """`The miller said that the bridge fell`."""
    speaker = drawn(scene, srl_tables.GIVERS)
    frame = parse_frame(scene.line(srl_tables.SAYINGS))
    group = verb_group(ClausePlan(frame, speaker), plural=speaker.plural)
    content = word("that", tag="IN") + (transfer(scene) if scene.dice.chance(0.5) else other_clause(scene))
    return assembled(frame, group, ("A0", speaker.phrase), ("V", Phrase(group.tokens)), ("A1", content))
