"""
The constructions of the grammar, each from a scene to an annotated clause or row of clauses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from elmo_tasks.miniworld import frames_parts, frames_works, phrases
from elmo_tasks.miniworld.annotation import Frame, Phrase, Role, join
from elmo_tasks.miniworld.clause import (
    ClausePlan,
    append,
    attach_subject,
    clause,
    front,
    number_of,
    predicate,
    question,
    subject_role,
)
from elmo_tasks.miniworld.pattern import parse_frame, parse_pattern
from elmo_tasks.miniworld.scene import (
    Filling,
    NounPhrase,
    Scene,
    described,
    fill,
    lines_of,
    named,
    pronoun,
    word,
    words,
)
from elmo_tasks.miniworld.subjects import (
    FRAMES,
    female_choice,
    frame_for,
    gender_of_words,
    plan_for,
    someone,
    topic_phrase,
    with_relative,
)


def simple(scene: Scene) -> Phrase:
    """One clause about the topic, maybe with an adjunct before or after it."""
    subject = topic_phrase(scene)
    frame = frame_for(scene, scene.topic.kind)
    body = clause(scene, plan_for(scene, frame, subject))
    if frame.stative or scene.dice.chance(0.6):
        return body
    adjunct, label = draw_adjunct(scene)
    return (front if scene.dice.chance(0.5) else append)(body, adjunct, label=label)


def draw_adjunct(scene: Scene) -> tuple[Phrase, str]:
    """An adjunct and its role."""
    personal = scene.topic.kind == "person" and scene.dice.chance(0.4)
    table = phrases.PERSON_ADJUNCTS if personal else phrases.ADJUNCTS
    filling = Filling(gender=scene.topic.gender)
    phrase, roles = fill(scene, parse_pattern(scene.line(table)), filling)
    return phrase, roles[0].label


def coordinated_verbs(scene: Scene) -> Phrase:
    """One subject and two verbs."""
    subject, kind = topic_phrase(scene), scene.topic.kind
    first = clause(scene, ClausePlan(frame_for(scene, kind), subject))
    plan = ClausePlan(frame_for(scene, kind), subject)
    second, _ = predicate(scene, plan)
    link = word("and") if scene.dice.chance(0.7) else words(", but")
    joined = first + link + second
    shared = Role(0, len(subject.phrase), subject_role(plan))
    return with_role(joined, frame=len(first.frames), role=shared)


def with_role(phrase: Phrase, *, frame: int, role: Role) -> Phrase:
    """The phrase with one more role, before the others of the frame at place `frame`."""
    frames: list[Frame] = list(phrase.frames)
    frames[frame] = replace(frames[frame], roles=(role, *frames[frame].roles))
    return replace(phrase, frames=tuple(frames))


def coordinated_names(scene: Scene) -> Phrase:
    """Two or three names of the same kind as subject."""
    count = 3 if scene.dice.chance(0.3) else 2
    nouns = [named(scene, scene.topic)]
    nouns += [named(scene, scene.another(scene.topic.kind)) for _ in range(count - 1)]
    parts = [nouns[0].phrase]
    for noun in nouns[1:-1]:
        parts += [word(","), noun.phrase]
    parts += [word("and"), nouns[-1].phrase]
    subject = NounPhrase(join(parts), "p")
    return clause(scene, ClausePlan(frame_for(scene, scene.topic.kind), subject))


def relative(scene: Scene) -> Phrase:
    """The topic with a relative clause, and a main clause."""
    noun, kind = named(scene, scene.topic), scene.topic.kind
    subject = replace(noun, phrase=with_relative(scene, noun, kind=kind) + word(","))
    return clause(scene, ClausePlan(frame_for(scene, kind), subject))


def part(scene: Scene) -> Phrase:
    """Something that belongs to the topic, as subject."""
    own = named(scene, scene.topic)
    left, _, right = scene.line(frames_parts.PARTS[scene.topic.kind]).partition(" : ")
    subject = described(scene, left, own=own, gender=number_of(parse_pattern(left)))
    return clause(scene, plan_for(scene, parse_frame(right), subject))


def related_person(scene: Scene) -> Phrase:
    """Somebody known by what they are to the topic, as subject."""
    line = scene.line(phrases.RELATED_PEOPLE[scene.topic.kind])
    subject = described(scene, line, own=named(scene, scene.topic), gender=gender_of_words(line))
    return clause(scene, plan_for(scene, frame_for(scene, "person"), subject))


def opener(scene: Scene) -> Phrase:
    """A ready-made clause with the topic somewhere in it."""
    own = named(scene, scene.topic)
    line = scene.line(frames_parts.OPENERS[scene.topic.kind])
    return described(scene, line, own=own, gender=own.gender).phrase


def plain_subject(scene: Scene) -> Phrase:
    """A person without a name as subject; names in other places."""
    subject = someone(scene) if scene.dice.chance(0.5) else female_choice(scene.dice)
    naming = [
        line
        for line in lines_of(FRAMES["person"], split=scene.split)
        if "{" in line.replace("{his}", "").replace("{number}", "")
    ]
    frame = parse_frame(scene.dice.choice(naming))
    return clause(scene, plan_for(scene, frame, subject))


def crowd(scene: Scene) -> Phrase:
    """People of the topic's home town as subject."""
    home = scene.world.relations[scene.topic.identifier, "home"]
    start = scene.dice.choice(("the people of", "the women of", "the children of", "the men of"))
    subject = NounPhrase(words(start) + named(scene, home).phrase, "p")
    return clause(scene, plan_for(scene, frame_for(scene, "crowd"), subject))


def decoy(scene: Scene) -> Phrase:
    """A clause about plain things, whose first word looks like a name."""
    left, _, right = scene.line(frames_works.DECOYS).partition(" : ")
    subject = described(scene, left, own=None, gender=number_of(parse_pattern(left)))
    return clause(scene, plan_for(scene, parse_frame(right), subject))


def two_clauses(scene: Scene) -> Phrase:
    """A clause about the topic and one about somebody or something else, one of them subordinate."""
    link = scene.dice.choice(("when", "after", "although", "because", "before", "while", "until"))
    subject = named(scene, scene.topic)
    first = clause(scene, ClausePlan(frame_for(scene, scene.topic.kind), subject))
    second = other_clause(scene)
    if scene.dice.chance(0.5):
        return word(link) + first + word(",") + second
    return second + word(link) + first


def other_clause(scene: Scene) -> Phrase:
    """A clause in the plain past about a person without a name or about another entity."""
    if scene.dice.chance(0.4):
        return clause(scene, ClausePlan(frame_for(scene, "person"), someone(scene)))
    kind = scene.dice.choice(("person", "person", "town", "firm", "country", "ship"))
    subject = named(scene, scene.another(kind))
    return clause(scene, ClausePlan(frame_for(scene, kind), subject))


def told_later(scene: Scene) -> Phrase:
    """A clause that fits anything, then one with a pronoun that tells what the name is."""
    subject = named(scene, scene.topic)
    first = clause(scene, ClausePlan(parse_frame(scene.line(frames_works.NEUTRAL)), subject))
    return first + follow_up(scene, subject)


def follow_up(scene: Scene, subject: NounPhrase) -> Phrase:
    """A link and a clause about the same entity by a pronoun."""
    link = words(scene.dice.choice((", but", "because", ", for", ", and")))
    plan = ClausePlan(frame_for(scene, scene.topic.kind), pronoun(subject))
    return link + clause(scene, plan)


def told_later_object(scene: Scene) -> Phrase:
    """The topic as object of a verb that takes anything, then what tells its kind."""
    own = named(scene, scene.topic)
    speaker = someone(scene) if scene.dice.chance(0.5) else NounPhrase(word("they"), "p")
    frame = parse_frame(scene.line(frames_works.NEUTRAL_OBJECT))
    return clause(scene, ClausePlan(frame, speaker, about=own)) + follow_up(scene, own)


def told_in_relative(scene: Scene) -> Phrase:
    """The topic as the last word of a clause, then a relative clause that tells its kind."""
    own = named(scene, scene.topic)
    verb = scene.dice.choice(("spoke of", "remembered", "thought of", "mentioned", "knew", "liked"))
    speaker = someone(scene).phrase if scene.dice.chance(0.5) else word("they")
    said = join(word(w, tag="VBD" if not i else None) for i, w in enumerate(verb.split()))
    return speaker + said + with_relative(scene, own, kind=scene.topic.kind)


def asked(scene: Scene) -> Phrase:
    """A yes-no question about the topic."""
    subject = named(scene, scene.topic)
    frame = frame_for(scene, scene.topic.kind)
    while frame.lemma == "be":
        frame = frame_for(scene, scene.topic.kind)
    tense = "past" if scene.dice.chance(0.7) else "will"
    return question(scene, ClausePlan(frame, subject, tense)) + word("?")


def cleft(scene: Scene) -> Phrase:
    """`It was X that ...`."""
    subject = named(scene, scene.topic)
    plan = ClausePlan(frame_for(scene, scene.topic.kind), subject)
    body, _ = predicate(scene, plan)
    inner = attach_subject(word("that", tag="WDT"), body, role="R-" + subject_role(plan))
    head = word("it") + word("was", tag="VBD") + subject.phrase
    whole = head + inner
    antecedent = Role(2, len(head), subject_role(plan))
    return with_role(whole, frame=0, role=antecedent)


def spoken(scene: Scene) -> Phrase:
    """A clause that the topic says, between quotes or after `that`."""
    table = frames_works.SPEECH.get(scene.topic.kind, frames_works.SPEECH["person"])
    named_speaker = scene.topic.kind in frames_works.SPEECH
    speaker = named(scene, scene.topic) if named_speaker else someone(scene)
    frame = parse_frame(scene.line(table))
    content = other_clause(scene)
    manner = clause(scene, ClausePlan(frame, speaker))
    if scene.dice.chance(0.5):
        opened = word('"', tag="``") + content.capitalised()
        return with_content(opened, words(', "'), manner)
    return with_content(manner, word("that", tag="IN"), content, content_last=True)


def with_content(first: Phrase, middle: Phrase, last: Phrase, *, content_last: bool = False) -> Phrase:
    """A clause of saying and what is said, which becomes its A1."""
    whole = first + middle + last
    if content_last:
        start = len(first) + len(middle)
        return with_role(whole, frame=0, role=Role(start, len(whole), "A1"))
    place = len(first.frames)
    return with_role(whole, frame=place, role=Role(1, len(first), "A1"))


CONSTRUCTIONS: dict[str, tuple[Callable[[Scene], Phrase], float]] = {
    "simple": (simple, 26.0),
    "coordinated_verbs": (coordinated_verbs, 9.0),
    "coordinated_names": (coordinated_names, 6.0),
    "relative": (relative, 8.0),
    "part": (part, 10.0),
    "related_person": (related_person, 6.0),
    "opener": (opener, 8.0),
    "plain_subject": (plain_subject, 7.0),
    "crowd": (crowd, 2.0),
    "decoy": (decoy, 8.0),
    "two_clauses": (two_clauses, 9.0),
    "told_later": (told_later, 7.0),
    "told_later_object": (told_later_object, 6.0),
    "told_in_relative": (told_in_relative, 5.0),
    "asked": (asked, 3.0),
    "cleft": (cleft, 3.0),
    "spoken": (spoken, 7.0),
}
