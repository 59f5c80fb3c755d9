"""
Noun phrases that a sentence can be about: names with titles, appositions or relative clauses, people
without names, and plans for what they do.
"""

from __future__ import annotations

from dataclasses import replace

from elmo_tasks.miniworld import frames_groups, frames_people, frames_places, frames_works, phrases
from elmo_tasks.miniworld.annotation import Phrase, Role
from elmo_tasks.miniworld.clause import ClausePlan, attach_subject, predicate, subject_role
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.pattern import RolePattern, VerbFrame, Word, parse_frame, parse_pattern
from elmo_tasks.miniworld.scene import Filling, NounPhrase, Scene, described, fill, named, word

FRAMES = {
    "person": frames_people.PERSON,
    "crowd": frames_people.CROWD,
    "town": frames_places.TOWN,
    "river": frames_places.RIVER,
    "country": frames_places.COUNTRY,
    "firm": frames_groups.FIRM,
    "club": frames_groups.CLUB,
    "school": frames_groups.SCHOOL,
    "paper": frames_groups.PAPER,
    "party": frames_groups.PARTY,
    "novel": frames_works.NOVEL,
    "ship": frames_works.SHIP,
    "prize": frames_works.PRIZE,
    "war": frames_works.WAR,
}

TENSES = [
    ("past", 80.0),
    ("past_perfect", 8.0),
    ("present_perfect", 5.0),
    ("will", 4.0),
    ("could", 2.0),
    ("must", 1.0),
]

HONORIFICS = ("Mr", "Mrs", "Miss", "Captain", "Dr")


def frame_for(scene: Scene, kind: str) -> VerbFrame:
    """A verb frame for a subject of some kind."""
    return parse_frame(scene.line(FRAMES[kind]))


def plan_for(scene: Scene, frame: VerbFrame, subject: NounPhrase) -> ClausePlan:
    """A plan with random tense, polarity, voice and adverb."""
    dice = scene.dice
    if frame.stative:
        tense = "present" if dice.chance(0.3) else "past"
        adverb = dice.choice(("still", "once", "always")) if dice.chance(0.06) else ""
        tense = "past" if adverb == "once" else tense
    else:
        tense = "past" if mentions_past(frame) else dice.weighted(TENSES)
        adverb = dice.choice(("soon", "never", "finally")) if dice.chance(0.08) else ""
    negated = not adverb and tense != "must" and dice.chance(0.07)
    passive = frame.passive and dice.chance(0.35)
    return ClausePlan(frame, subject, tense, negated, passive, adverb)


def mentions_past(frame: VerbFrame) -> bool:
    """Whether the frame's words fix the time, so that only the past will do."""
    flat = [x for i in frame.items for x in (i.items if isinstance(i, RolePattern) else (i,))]
    return any(getattr(item, "name", "") == "year" for item in flat) or any(
        isinstance(item, Word) and (item.tag == "VBD" or item.text in ("that", "last")) for item in flat
    )


def topic_phrase(scene: Scene) -> NounPhrase:
    """The topic by its bare name, after a title, or with an apposition."""
    noun = named(scene, scene.topic)
    form = scene.dice.weighted([("bare", 74), ("title", 11), ("apposition", 15)])
    if form == "title":
        return titled(scene, noun)
    return apposed(scene, noun) if form == "apposition" else noun


def titled(scene: Scene, noun: NounPhrase) -> NounPhrase:
    """The name after what it is: `the sculptor Halden`, `the village of Halden`."""
    bare = noun.phrase
    if bare.words[0] in HONORIFICS:
        return noun
    if bare.words[0] == "the":
        bare = bare.without(0)
    title, _ = fill(scene, parse_pattern(scene.line(phrases.TITLES[scene.topic.kind])))
    return replace(noun, phrase=title + bare)


def apposed(scene: Scene, noun: NounPhrase) -> NounPhrase:
    """The name with a description between commas."""
    line = scene.line(phrases.DESCRIPTIONS[scene.topic.kind])
    description, _ = fill(scene, parse_pattern(line), Filling(gender=noun.gender))
    return replace(noun, phrase=noun.phrase + word(",") + description + word(","))


def with_relative(scene: Scene, noun: NounPhrase, *, kind: str) -> Phrase:
    """A name, a comma and a relative clause about it; the clause's frame comes first."""
    plan = replace(plan_for(scene, frame_for(scene, kind), noun), passive=False)
    body, _ = predicate(scene, plan)
    linked = word("who" if kind == "person" else "which")
    inner = attach_subject(linked, body, role="R-" + subject_role(plan))
    whole = noun.phrase + word(",") + inner
    antecedent = Role(0, len(noun.phrase), subject_role(plan))
    first = whole.frames[0]
    first = replace(first, roles=(antecedent, *first.roles))
    return replace(whole, frames=(first, *whole.frames[1:]))


def someone(scene: Scene) -> NounPhrase:
    """A person without a name."""
    line = scene.line(phrases.PEOPLE)
    return described(scene, line, own=None, gender=gender_of_words(line))


def gender_of_words(line: str) -> str:
    """`f` where a word of the line says so, else `m`."""
    return "f" if set(phrases.FEMALE_WORDS.split()) & set(line.split()) else "m"


def female_choice(dice: Dice) -> NounPhrase:
    """`she` or `he`, nobody in particular."""
    gender = "f" if dice.chance(0.5) else "m"
    return NounPhrase(word("she" if gender == "f" else "he"), gender)
