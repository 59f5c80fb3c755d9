"""
Questions about the events of a passage: each asks for one role, and gives as much of the rest as makes the answer
certain, or little more, in a voice of its own and sometimes in other words than the passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elmo_tasks.miniworld import qa_tables
from elmo_tasks.miniworld.annotation import Phrase, join
from elmo_tasks.miniworld.clause import VerbGroup
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.qa_events import (
    ADJUNCTS,
    AGENT,
    CAUSE,
    PATIENT,
    PLACE,
    TIME,
    Event,
    Telling,
    Verb,
    draw_telling,
    noun_of,
    participant,
    preposition_of,
    subject_and_object,
    verbs_of,
)
from elmo_tasks.miniworld.scene import NounPhrase, Scene, with_articles, word, words
from elmo_tasks.miniworld.world import Entity

WH = {TIME: "when", PLACE: "where", CAUSE: "why"}
OTHER_WORDS = 0.3
"""How often a question avoids the passage's own verb where there is another for it."""
UNNAMED = 0.8
"""How often a question leaves the other participants unnamed where the verb alone makes the answer certain."""


def is_certain(event: Event, role: str, events: Sequence[Event]) -> bool:
    """Whether all events of this kind with the same other participant have the same answer."""
    if role in ADJUNCTS:
        return True
    same = [other for other in events if other.verbs == event.verbs]
    if role == AGENT:
        return {other.agent for other in same if other.patient is event.patient} == {event.agent}
    return {other.patient for other in same if other.agent is event.agent} == {event.patient}


def is_told_by_verb(event: Event, role: str, events: Sequence[Event]) -> bool:
    """Whether all events of this kind have the same answer, whoever else takes part in them."""
    same = [other for other in events if other.verbs == event.verbs]
    return len(same) == 1 if role in ADJUNCTS else len({participant(other, role) for other in same}) == 1


def ask(scene: Scene, told: Telling, role: str, *, named: bool) -> Phrase:
    """
    A question for a role of an event that the passage tells.

    # Parameters

    named : `bool`
        Whether the other participants come by their names; they are `somebody` or `a firm` otherwise.
    """
    telling = retold(scene.dice, told)
    first, second = subject_and_object(telling)
    nouns = {label: (noun_of if named else unnamed)(scene, telling.event, label) for label in (first, second)}
    if role in ADJUNCTS:
        return closed(join([word(WH[role]), inverted(telling, nouns)]))
    if role == first:
        return closed(ask_subject(scene, telling, nouns))
    return closed(ask_object(scene, telling, role, nouns))


def unnamed(scene: Scene, event: Event, role: str) -> NounPhrase:
    """`somebody`, `a firm`."""
    entity = participant(event, role)
    if entity.kind == "person":
        return NounPhrase(word(scene.dice.choice(("somebody", "someone"))), entity.gender)
    kind = scene.dice.choice(qa_tables.KIND_NAMES[entity.kind].split())
    return NounPhrase(with_articles(word("a") + word(kind)), entity.gender)


def retold(dice: Dice, told: Telling) -> Telling:
    """The event in other words where there are any, mostly, and in a voice of its own."""
    others = tuple(verb for verb in told.event.verbs if verb != told.verb)
    chosen: tuple[Verb, ...] = others if others and dice.chance(OTHER_WORDS) else (told.verb,)
    drawn = draw_telling(dice, Event(chosen, told.event.agent, told.event.patient))
    return Telling(told.event, drawn.verb, drawn.passive)


def ask_subject(scene: Scene, telling: Telling, nouns: Mapping[str, NounPhrase]) -> Phrase:
    """`Who bought X`, `what was bought by X`."""
    first, second = subject_and_object(telling)
    entity = participant(telling.event, first)
    subject = NounPhrase(wh_word(scene.dice, entity), entity.gender, entity)
    verbs = Phrase(verbs_of(telling, subject).tokens)
    return join([subject.phrase, verbs, preposition_of(telling), nouns[second].phrase])


def ask_object(scene: Scene, telling: Telling, role: str, nouns: Mapping[str, NounPhrase]) -> Phrase:
    """`What did X buy`, `who did X lose to`, `by whom was X bought`, `who was X bought by`."""
    asked = participant(telling.event, role)
    rest = inverted(telling, nouns, object_=False)
    if telling.passive and scene.dice.chance(0.5):
        return join([word("by"), wh_word(scene.dice, asked, after_preposition=True), rest])
    return join([wh_word(scene.dice, asked), rest, preposition_of(telling)])


def inverted(telling: Telling, nouns: Mapping[str, NounPhrase], *, object_: bool = True) -> Phrase:
    """`did X buy Y`, `was Y bought by X`, without what stands behind the verb if that is asked for."""
    first, second = subject_and_object(telling)
    subject = nouns[first]
    group: VerbGroup = verbs_of(telling, subject, inverted=True)
    phrase = join([Phrase(group.tokens[:1]), subject.phrase, Phrase(group.tokens[1:])])
    if object_:
        phrase = join([phrase, preposition_of(telling), nouns[second].phrase])
    return phrase


def wh_word(dice: Dice, entity: Entity, *, after_preposition: bool = False) -> Phrase:
    """`who`, `what`, or `which` with a word for the kind."""
    if entity.kind == "person":
        return word("whom" if after_preposition else "who")
    kind = dice.choice(qa_tables.KIND_NAMES[entity.kind].split())
    return words(f"which {kind}") if after_preposition or dice.chance(0.6) else word("what")


def closed(phrase: Phrase) -> Phrase:
    """The question with its capital and its mark."""
    return (phrase + word("?")).capitalised()


def roles_to_ask(told: Telling, labels: Sequence[str], events: Sequence[Event]) -> list[str]:
    """The roles among these labels that a question may ask for."""
    known = {AGENT, PATIENT, *ADJUNCTS}
    return [label for label in dict.fromkeys(labels) if label in known and is_certain(told.event, label, events)]
