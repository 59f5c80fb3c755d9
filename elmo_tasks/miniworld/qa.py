"""
The question-answering view, in the format of SQuAD v1.1: passages about several events of a small cast.

Training and held-out passages have different worlds, and their verbs and adjuncts overlap only in part. Names of the
wanted kind, times, places and causes of other events stand beside every answer; where the verb alone makes the answer
certain, questions mostly name nobody, and many are asked in another voice or in other words, so that neither the type
of the answer nor the words of the question lead to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from elmo_tasks.miniworld import qa_tables
from elmo_tasks.miniworld.annotation import Phrase, Role
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.qa_events import AGENT, PATIENT, Told, cast_of, make_events, tell_all
from elmo_tasks.miniworld.qa_questions import UNNAMED, ask, is_told_by_verb, roles_to_ask
from elmo_tasks.miniworld.scene import Scene
from elmo_tasks.miniworld.sentence import make_sentence
from elmo_tasks.miniworld.tables import entries
from elmo_tasks.miniworld.world import World, build_world

PASSAGES = {"train-v1.1.json": 600, "dev-v1.1.json": 100, "test-v1.1.json": 100}
QUESTIONS = 4
LENGTHS = range(4, 8)
PARAGRAPHS = 10
CAST = {"person": 4, "firm": 3, "town": 3, "novel": 2, "ship": 2, "country": 3, "paper": 2, "school": 2}
WITHOUT_BLANK_BEFORE = frozenset((",", ".", "?", "!", "'s", "'"))
LEFT_OUT = frozenset(entries("the in on at near before after during because of out for mr mrs miss captain dr"))


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
    background = build_world(dice, people=60, stems=120, split=split)
    prefix = name.partition("-")[0]
    paragraphs = [
        make_paragraph(dice, background, split=split, name=f"{prefix}-{number}") for number in range(PASSAGES[name])
    ]
    articles = [
        {"title": f"Miniworld_{prefix}_{start // PARAGRAPHS + 1}", "paragraphs": paragraphs[start : start + PARAGRAPHS]}
        for start in range(0, len(paragraphs), PARAGRAPHS)
    ]
    return json.dumps({"version": "1.1", "data": articles}, indent=0) + "\n"


def make_paragraph(dice: Dice, background: World, *, split: str, name: str) -> dict[str, Any]:
    """A passage with its questions, as the format has it."""
    while True:
        kinds = dice.choice(list(qa_tables.EVENTS))
        wanted = [kind for kind in dict.fromkeys(kinds) for _ in range(CAST[kind])]
        cast = cast_of(dice, wanted, split=split)
        scene = Scene(World(entities=cast), dice, split, cast[kinds[0]][0])
        told = with_background(dice, background, tell_all(scene, make_events(scene, kinds)), split=split)
        asked = draw_questions(scene, told)
        if len(told) in LENGTHS and len(asked) == QUESTIONS:
            return paragraph(told, asked, name=name)


def with_background(dice: Dice, background: World, told: Sequence[Told], *, split: str) -> list[Told]:
    """The sentences, and somewhere among them one that tells nothing of these events."""
    lemmas = {verb.lemma for _, tellings in told for telling in tellings for verb in telling.event.verbs}
    while True:
        other = make_sentence(background, dice, split=split).phrase
        if not lemmas & {token.lemma for token in other.tokens}:
            break
    place = dice.below(len(told) + 1)
    return [*told[:place], Told(other, []), *told[place:]]


def draw_questions(scene: Scene, told: Sequence[Told]) -> list[Question]:
    """Questions about different events, one about each of a few."""
    events = [telling.event for _, tellings in told for telling in tellings]
    frames = [
        (place, telling, frame)
        for place, (phrase, tellings) in enumerate(told)
        for telling, frame in zip(tellings, phrase.frames, strict=False)
    ]
    questions = []
    for place, telling, frame in scene.dice.shuffled(frames)[:QUESTIONS]:
        roles = roles_to_ask(telling, [role.label for role in frame.roles], events)
        if roles:
            weights = [(role, 2.0 if role in (AGENT, PATIENT) else 1.0) for role in roles]
            label = scene.dice.weighted(weights)
            answer = next(role for role in frame.roles if role.label == label)
            by_verb = is_told_by_verb(telling.event, label, events)
            named = not (by_verb and scene.dice.chance(UNNAMED))
            questions.append(Question(ask(scene, telling, label, named=named), place, answer))
    return questions


def paragraph(told: Sequence[Told], asked: Sequence[Question], *, name: str) -> dict[str, Any]:
    """One paragraph with its questions, as the format has it."""
    starts = [0, *accumulate(len(phrase) for phrase, _ in told)]
    whole = [token for phrase, _ in told for token in phrase.words]
    text = running_text(whole)
    qas = []
    for number, (question, place, answer) in enumerate(asked):
        answers = gold_answers(text, whole, starts[place] + answer.start, starts[place] + answer.end)
        qas.append({"id": f"{name}-{number}", "question": running_text(question.words).text, "answers": answers})
    return {"context": text.text, "qas": qas}


def gold_answers(text: Text, whole: Sequence[str], start: int, end: int) -> list[dict[str, Any]]:
    """The answer without what may be left out before it, and in full."""
    bare = start
    while bare < end - 1 and whole[bare].lower() in LEFT_OUT:
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
