"""
The question-answering view, in the format of SQuAD v1.1: passages in the whole of this world's language, and questions
after any role of any of its verbs: who, what, to whom, when, where, why, how.

Training and held-out passages have different worlds, and their verbs and phrases overlap only in part. The sentences
of a passage draw on few names and few lines of every table, so that the same verbs, givers, takers and things come
again in other roles; a question has a voice and names of its own. Neither the type of the answer nor the words of the
question lead to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from elmo_tasks.miniworld import names, qa_tables
from elmo_tasks.miniworld.annotation import Phrase, Role
from elmo_tasks.miniworld.constructions import CONSTRUCTIONS
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.qa_clauses import CORE, Clause, Part, is_fact, read_clause
from elmo_tasks.miniworld.qa_questions import (
    SHORT,
    UNNAMED,
    ask,
    given_parts,
    is_person,
    may_be_asked,
    may_be_left_out,
    may_be_repeated,
    may_match,
)
from elmo_tasks.miniworld.scene import Scene, lines_of
from elmo_tasks.miniworld.sentence import MIN_LENGTH, TOPIC_WEIGHTS, finished
from elmo_tasks.miniworld.srl import OWN
from elmo_tasks.miniworld.subjects import HONORIFICS
from elmo_tasks.miniworld.tables import entries
from elmo_tasks.miniworld.world import LABELS, Entity, World, build_entity, part_of, relate

PASSAGES = {"train-v1.1.json": 280, "dev-v1.1.json": 100, "test-v1.1.json": 100}
QUESTIONS = 4
PARAGRAPHS = 10
SENTENCES, OWN_SHARE, MAX_LENGTH = 6, 0.5, 25
"""Sentences of a passage, the share of those about transfers, and the tokens of the longest."""
TOPICS, PEOPLE, ENTITIES, STEMS, LINES = 2, 4, 2, 30, 3
"""What the sentences of a passage draw on: topics, people, entities of any other kind, stems, lines of a table."""
ALONE, ADJUNCTS_FIRST = 0.1, 0.2
"""How often a question is about a verb that the passage has only once, and asks for an adjunct where there is one."""
WITHOUT_BLANK_BEFORE = frozenset((",", ".", "?", "!", "'s", "'"))
LEFT_OUT = frozenset(entries("the in on at near before after during because of out for by to with"))
OF_THE_WORLD = [one for name, one in CONSTRUCTIONS.items() if name != "asked"]
COMMON = frozenset(entries("New Upper Great Port Party League Bank Mills Steel The"))


@dataclass(frozen=True)
class Text:
    """Tokens as running text, with the first and the last character of each, the last not included."""

    text: str
    offsets: tuple[tuple[int, int], ...]

    def cut(self, start: int, end: int) -> tuple[str, int]:
        """The text of the tokens from `start` up to `end`, and where it starts."""
        first, last = self.offsets[start][0], self.offsets[end - 1][1]
        return self.text[first:last], first


class Question(NamedTuple):
    """A question, the place of the sentence that answers it, and the tokens of the answer in that sentence."""

    phrase: Phrase
    sentence: int
    answer: Role


def qa_files(*, seed: int) -> dict[str, str]:
    """The three files, by their paths below the corpus folder."""
    return {f"squad/{name}": squad(name, seed=seed) for name in PASSAGES}


def squad(name: str, *, seed: int) -> str:
    """The text of one file."""
    dice, split = Dice(seed, f"squad/{name}"), "train" if name.startswith("train") else "heldout"
    prefix = name.partition("-")[0]
    paragraphs = [make_paragraph(dice, split=split, name=f"{prefix}-{number}") for number in range(PASSAGES[name])]
    articles = [
        {"title": f"Miniworld_{prefix}_{start // PARAGRAPHS + 1}", "paragraphs": paragraphs[start : start + PARAGRAPHS]}
        for start in range(0, len(paragraphs), PARAGRAPHS)
    ]
    return json.dumps({"version": "1.1", "data": articles}, indent=0) + "\n"


@dataclass
class PassageScene(Scene):
    """
    A scene of a passage, whose sentences share what they draw on.

    # Parameters

    lines : `dict[str, tuple[str, ...]]`
        The few lines of each table that the passage uses, added to when a table is first met.
    """

    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def line(self, table: str) -> str:
        """One of the passage's own lines of a table."""
        if table not in self.lines:
            self.lines[table] = tuple(self.dice.shuffled(lines_of(table, split=self.split))[:LINES])
        return self.dice.choice(self.lines[table])


def make_paragraph(dice: Dice, *, split: str, name: str) -> dict[str, Any]:
    """A passage with its questions, as the format has it."""
    while True:
        told, scene = make_passage(dice, split=split)
        asked = draw_questions(scene, told)
        if len(asked) == QUESTIONS and are_told_apart(scene.world, told):
            return paragraph(told, asked, name=name)


def make_passage(dice: Dice, *, split: str) -> tuple[list[Phrase], Scene]:
    """The sentences of a passage, and the scene that they come from."""
    world = make_world(dice, split=split)
    topics = [dice.choice(world.entities[dice.weighted(TOPIC_WEIGHTS)]) for _ in range(TOPICS)]
    scene = PassageScene(world, dice, split, topics[0])
    told: list[Phrase] = []
    while len(told) < SENTENCES:
        scene.topic = dice.choice(topics)
        scene.used = {scene.topic.identifier, scene.topic.stem}
        make = dice.weighted(OWN) if dice.chance(OWN_SHARE) else dice.weighted(OF_THE_WORLD)
        phrase = finished(make(scene))
        if MIN_LENGTH <= len(phrase) <= MAX_LENGTH and phrase.words not in [one.words for one in told]:
            told.append(phrase)
    return told, scene


def make_world(dice: Dice, *, split: str) -> World:
    """A few entities of every kind."""
    known, composed = (dice.shuffled(stems) for stems in stems_of(split))
    stems = [*known[: round(STEMS * qa_tables.KNOWN_SHARE)], *composed[: round(STEMS * (1 - qa_tables.KNOWN_SHARE))]]
    world = World()
    for kind in LABELS:
        world.entities[kind] = [
            recognisable(build_entity(dice, kind=kind, number=number, stems=stems, split=split))
            for number in range(PEOPLE if kind == "person" else ENTITIES)
        ]
    relate(world, dice)
    return world


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


def are_told_apart(world: World, told: Sequence[Phrase]) -> bool:
    """Whether no two entities that the passage mentions share a part of their names."""
    mentioned = {mention.entity for phrase in told for mention in phrase.mentions}
    pieces = [
        {piece for form in entity.forms for piece in form.split() if piece[0].isupper()} - COMMON
        for entity in world.all_entities()
        if entity.identifier in mentioned
    ]
    return len(set().union(*pieces)) == sum(len(one) for one in pieces)


def draw_questions(scene: Scene, told: Sequence[Phrase]) -> list[Question]:
    """Certain questions, one about each of a few clauses."""
    read = [(place, frame, read_clause(phrase, frame)) for place, phrase in enumerate(told) for frame in phrase.frames]
    clauses = [(place, frame, clause) for place, frame, clause in read if clause is not None]
    questions: list[Question] = []
    for place, frame, clause in scene.dice.shuffled(clauses):
        if len(questions) == QUESTIONS:
            break
        if is_fact(told[place], frame):
            others = [other for _, of, other in clauses if of is not frame and other.lemma == clause.lemma]
            unread = any(of.lemma == clause.lemma for _, of, other in read if other is None)
            alone = not others and not scene.dice.chance(ALONE)
            question = None if unread or alone else draw_question(scene, clause, others, place)
            questions += [question] if question else []
    return questions


def draw_question(scene: Scene, clause: Clause, others: Sequence[Clause], place: int) -> Question | None:
    """A question about a clause whose answer no other clause with this verb disputes; None where there is none."""
    possible = scene.dice.shuffled([part for part in clause.parts if may_be_asked(part)])
    if scene.dice.chance(ADJUNCTS_FIRST):
        possible.sort(key=lambda part: part.label in CORE)
    for asked in possible:
        full = given_parts(scene, clause, asked)
        short = tuple(part for part in full if not may_be_left_out(clause, part))
        for given in (short, full) if scene.dice.chance(SHORT) else (full,):
            if all(may_be_repeated(part) for part in given) and is_certain(asked, given, others):
                hidden = [part for part in given if not (part.label == "A0" and is_person(part))]
                free = len(hidden) < len(given) and is_certain(asked, hidden, others)
                phrase = ask(scene, clause, asked, given, unnamed=free and scene.dice.chance(UNNAMED))
                return Question(phrase, place, Role(asked.start, asked.end, asked.label))
    return None


def is_certain(asked: Part, given: Sequence[Part], others: Sequence[Clause]) -> bool:
    """Whether a question that gives these phrases is about none of the other clauses."""
    return not any(may_match(other, asked, given) for other in others)


def paragraph(told: Sequence[Phrase], asked: Sequence[Question], *, name: str) -> dict[str, Any]:
    """One paragraph with its questions, as the format has it."""
    starts = [0, *accumulate(len(phrase) for phrase in told)]
    whole = [token for phrase in told for token in phrase.words]
    text = running_text(whole)
    qas = []
    for number, (question, place, answer) in enumerate(asked):
        answers = gold_answers(text, whole, starts[place] + answer.start, starts[place] + answer.end)
        qas.append({"id": f"{name}-{number}", "question": running_text(question.words).text, "answers": answers})
    return {"context": text.text, "qas": qas}


def gold_answers(text: Text, whole: Sequence[str], start: int, end: int) -> list[dict[str, Any]]:
    """The answer without what may be left out before it, and in full."""
    bare = start
    while bare < end - 1 and (whole[bare].lower() in LEFT_OUT or whole[bare] in HONORIFICS):
        bare += 1
    spans = dict.fromkeys(((bare, end), (start, end)))
    cuts = [text.cut(*span) for span in spans]
    return [{"text": answer, "answer_start": place} for answer, place in cuts]


def running_text(tokens: Sequence[str]) -> Text:
    """The tokens with blanks between them where English has them."""
    text, offsets, quoted = "", [], False
    glued = True
    for token in tokens:
        closing = token == '"' and quoted
        blank = "" if glued or closing or token in WITHOUT_BLANK_BEFORE else " "
        offsets.append((len(text) + len(blank), len(text) + len(blank) + len(token)))
        text += blank + token
        quoted = quoted != (token == '"')
        glued = token == '"' and quoted
    return Text(text, tuple(offsets))
