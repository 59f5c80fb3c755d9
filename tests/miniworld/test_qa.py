"""The question-answering view: legal format, certain answers, and hard for anything that looks words up."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.miniworld import qa_tables
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.morphology import inflect_verb
from elmo_tasks.miniworld.qa import PASSAGES, gold_answers, running_text
from elmo_tasks.miniworld.qa_events import (
    AGENT,
    CAUSE,
    PATIENT,
    TIME,
    Event,
    Telling,
    Verb,
    cast_of,
    parse_verbs,
    subject_and_object,
    tell,
)
from elmo_tasks.miniworld.qa_questions import ask, is_certain, is_told_by_verb
from elmo_tasks.miniworld.scene import Scene, lines_of, words
from elmo_tasks.miniworld.world import World
from elmo_tasks.squad.metric import best, f1, normalize

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld" / "squad"


def read(name: str) -> list[dict[str, Any]]:
    data = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert data["version"] == "1.1"
    return [paragraph for article in data["data"] for paragraph in article["paragraphs"]]


@pytest.fixture(scope="module")
def files() -> dict[str, list[dict[str, Any]]]:
    return {name: read(name) for name in PASSAGES}


def questions(paragraphs: list[dict[str, Any]]) -> Iterator[tuple[str, str, list[str]]]:
    """Passage, question, and the texts of its answers."""
    for paragraph in paragraphs:
        for asked in paragraph["qas"]:
            yield paragraph["context"], asked["question"], [answer["text"] for answer in asked["answers"]]


def test_sizes_and_places_of_answers(files: dict[str, list[dict[str, Any]]]) -> None:
    counts = {name: sum(1 for _ in questions(paragraphs)) for name, paragraphs in files.items()}
    assert counts == {"train-v1.1.json": 2400, "dev-v1.1.json": 400, "test-v1.1.json": 400}
    ids = [asked["id"] for paragraphs in files.values() for paragraph in paragraphs for asked in paragraph["qas"]]
    assert len(set(ids)) == len(ids) == 3200
    for paragraphs in files.values():
        for paragraph in paragraphs:
            assert 30 < len(paragraph["context"].split()) < 130
            for asked in paragraph["qas"]:
                for answer in asked["answers"]:
                    start = answer["answer_start"]
                    assert paragraph["context"][start : start + len(answer["text"])] == answer["text"]


def test_every_kind_of_question_is_frequent(files: dict[str, list[dict[str, Any]]]) -> None:
    for paragraphs in files.values():
        asked = list(questions(paragraphs))
        first = Counter(question.split()[0] for _, question, _ in asked)
        assert min(first[kind] for kind in ("Who", "What", "Which", "When", "Where", "Why")) > 0.05 * len(asked)
        passive = sum(bool(re.search(r"\b(was|were) .*(by\b|\?)", question)) for _, question, _ in asked)
        assert 0.25 < passive / len(asked) < 0.6


def test_training_and_held_out_passages_share_few_names(files: dict[str, list[dict[str, Any]]]) -> None:
    names = {
        name: set(re.findall(r"[a-z,] ([A-Z][a-z]+)", " ".join(p["context"] for p in paragraphs)))
        for name, paragraphs in files.items()
    }
    for heldout in ("dev-v1.1.json", "test-v1.1.json"):
        assert 0.5 < len(names[heldout] - names["train-v1.1.json"]) / len(names[heldout]) < 0.9


def sentences(passage: str) -> list[str]:
    return re.split(r"(?<=[a-z0-9][.?]) (?=[A-Z\"])", re.sub(r"\b(Mr|Mrs|Dr)\.", r"\1", passage))


DATES = "January February March April May June July August September October November December Christmas Easter"
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
DATE = "|".join(f"{DATES} {DAYS}".split())
ADJUNCTS = {
    "when": rf"(?:in|on|at|before|after|during|towards|at the end of|two) (?:the |early )?(?:long )?(?:(?:{DATE}) )?"
    rf"(?:\d{{4}}|war|flood|strike|election|dawn|winter|fire|spring|midnight|days later|{DATE})",
    "where": r"(?:near|at|in|on|behind|outside) (?:the (?:old )?(?:[a-z]+)|[A-Z]\w+)",
    "why": r"(?:because of|for|out of|in the hope of|on the advice of|on the orders of) "
    r"(?:a |an |the )?(?:\w+ )?(?:\w+ of )?(?:a |the )?\w+",
}


def look_up(passage: str, question: str) -> str:
    """In the sentence that shares most words with the question, the first phrase of the wanted type."""
    wanted, given = question.split()[0].lower(), set(normalize(question).split())
    sentence = max(sentences(passage), key=lambda one: len(given & set(normalize(one).split())))
    if wanted in ADJUNCTS:
        found = re.search(rf"\b{ADJUNCTS[wanted]}\b", sentence, re.IGNORECASE if wanted == "when" else 0)
        return found.group() if found else sentence
    names = re.findall(r"(?<!^)\b[A-Z]\w+(?: [A-Z]\w+)*|^[A-Z]\w+(?: [A-Z]\w+)*", sentence)
    named = (name for name in names if not set(normalize(name).split()) & given and len(name) > 3)
    return next(named, sentence)


@pytest.mark.parametrize("name", ["dev-v1.1.json", "test-v1.1.json"])
def test_looking_words_up_fails(files: dict[str, list[dict[str, Any]]], name: str) -> None:
    scores = [best(f1, look_up(passage, question), golds) for passage, question, golds in questions(files[name])]
    score = 100 * sum(scores) / len(scores)
    assert 25 < score < 55


def test_the_answer_stands_beside_others_of_its_type(files: dict[str, list[dict[str, Any]]]) -> None:
    chance = []
    for passage, question, _ in questions(files["dev-v1.1.json"]):
        if question.startswith("When"):
            chance.append(len(re.findall(ADJUNCTS["when"], passage)))
    assert len(chance) > 30 and sum(chance) / len(chance) > 3


@pytest.fixture
def scene() -> Scene:
    dice = Dice(5, "test")
    cast = cast_of(dice, ["person", "person", "firm", "firm"], split="all")
    return Scene(World(entities=cast), dice, "all", cast["person"][0])


BUY, SELL = parse_verbs("buy acquire"), parse_verbs("sell")


def test_verbs_of_a_line() -> None:
    assert parse_verbs("beat < lose:to") == (Verb("beat"), Verb("lose", "to", converse=True))
    assert parse_verbs("call:on") == (Verb("call", "on"),)


def event(scene: Scene, verbs: tuple[Verb, ...], agent: int, patient: int) -> Event:
    people, firms = scene.world.entities["person"], scene.world.entities["firm"]
    return Event(verbs, people[agent], firms[patient])


def test_an_answer_is_certain_if_all_such_events_have_it(scene: Scene) -> None:
    first, again, other = (event(scene, BUY, *pair) for pair in ((0, 0), (0, 1), (1, 1)))
    events = [first, again, other, event(scene, SELL, 1, 0)]
    assert is_certain(first, AGENT, events) and not is_certain(again, AGENT, events)
    assert not is_certain(first, PATIENT, events) and is_certain(other, PATIENT, events)
    assert is_certain(again, TIME, events)


def test_the_verb_alone_tells_the_answer_if_all_its_events_have_it(scene: Scene) -> None:
    first, again, other = (event(scene, BUY, *pair) for pair in ((0, 0), (0, 1), (1, 1)))
    assert is_told_by_verb(first, AGENT, [first, again]) and not is_told_by_verb(first, PATIENT, [first, again])
    assert not is_told_by_verb(first, AGENT, [first, again, other])
    assert is_told_by_verb(first, TIME, [first, event(scene, SELL, 1, 0)])
    assert not is_told_by_verb(first, TIME, [first, again])


@pytest.mark.parametrize(
    ("role", "patterns"),
    [
        (AGENT, {"Who bought F?", "Who was F bought by?", "By whom was F bought?"}),
        (PATIENT, {"X did P buy?", "X was bought by P?"}),
        (CAUSE, {"Why did P buy F?", "Why was F bought by P?"}),
    ],
)
def test_questions_that_name_nobody(scene: Scene, role: str, patterns: set[str]) -> None:
    telling = Telling(event(scene, parse_verbs("buy"), 0, 0), Verb("buy"), False)
    phrases = [ask(scene, telling, role, named=False) for _ in range(40)]
    assert not any(phrase.names for phrase in phrases)
    texts = [
        re.sub(r"^(What|Which (firm|company|business))", "X", running_text(phrase.words).text) for phrase in phrases
    ]
    texts = [re.sub(r"some(body|one)", "P", text) for text in texts]
    assert {re.sub(r"a (firm|company|business)", "F", text) for text in texts} == patterns


@pytest.mark.parametrize(
    ("verb", "passive", "pattern", "subject"),
    [
        (Verb("buy"), False, r"P bought F out of love", AGENT),
        (Verb("buy"), True, r"F was bought by P out of love", PATIENT),
        (Verb("work", "for"), False, r"P worked for F out of love", AGENT),
        (Verb("lose", "to", converse=True), False, r"F lost to P out of love", PATIENT),
    ],
)
def test_a_telling_has_the_roles_of_the_event(
    scene: Scene, verb: Verb, passive: bool, pattern: str, subject: str
) -> None:
    one = event(scene, (verb,), 0, 0)
    told = Telling(Event(one.verbs, one.agent, one.patient, {CAUSE: words("out of love")}), verb, passive)
    phrase = tell(scene, told)
    spans = {role.label: (role.start, role.end) for role in phrase.frames[0].roles}
    tokens = list(phrase.words)
    for label, letter in sorted(((AGENT, "P"), (PATIENT, "F")), key=lambda pair: -spans[pair[0]][0]):
        tokens[slice(*spans[label])] = [letter]
    assert " ".join(tokens) == pattern
    assert subject_and_object(told)[0] == subject
    assert phrase.tokens[phrase.frames[0].predicate].lemma == verb.lemma


@pytest.mark.parametrize(
    ("verb", "role", "patterns"),
    [
        (Verb("buy"), AGENT, {"Who bought F?", "Who was F bought by?", "By whom was F bought?"}),
        (Verb("buy"), PATIENT, {"X did P buy?", "X was bought by P?"}),
        (Verb("work", "for"), PATIENT, {"X did P work for?"}),
        (Verb("lose", "to", converse=True), AGENT, {"Who did F lose to?"}),
        (Verb("lose", "to", converse=True), PATIENT, {"X lost to P?"}),
        (Verb("buy"), CAUSE, {"Why did P buy F?", "Why was F bought by P?"}),
    ],
)
def test_forms_of_questions(scene: Scene, verb: Verb, role: str, patterns: set[str]) -> None:
    one = event(scene, (verb,), 0, 0)
    found = set()
    for _ in range(40):
        phrase = ask(scene, Telling(one, verb, False), role, named=True)
        tokens = list(phrase.words)
        for name in sorted(phrase.names, key=lambda name: -name.start):
            tokens[name.start : name.end] = ["P" if name.label == "PER" else "F"]
        text = re.sub(r"\b(Mr|Mrs|Miss|Dr|Captain) ", "", running_text(tokens).text)
        found.add(re.sub(r"^(What|Which (firm|company|business))", "X", text))
    assert found == patterns


def test_running_text() -> None:
    quoted = ["He", "said", ",", '"', "It", "left", ".", '"', "The", "dog", "'s", "bone", ",", "too", "."]
    text = running_text(quoted)
    assert text.text == 'He said, "It left." The dog\'s bone, too.'
    assert [text.text[start:end] for start, end in text.offsets][-5:] == ["'s", "bone", ",", "too", "."]


def test_gold_answers_without_and_with_what_may_be_left_out() -> None:
    tokens = ["He", "left", "in", "the", "spring", "."]
    text = running_text(tokens)
    assert gold_answers(text, tokens, 2, 5) == [
        {"text": "spring", "answer_start": 15},
        {"text": "in the spring", "answer_start": 8},
    ]
    assert gold_answers(text, tokens, 0, 1) == [{"text": "He", "answer_start": 0}]


def test_every_verb_is_inflected_as_english_has_it() -> None:
    irregular = {"beat", "teach", "strike", "draw", "hide", "buy", "sell", "found", "leave", "take", "build", "sink"}
    seen = set()
    for table in qa_tables.EVENTS.values():
        for line in table.strip().splitlines():
            for verb in parse_verbs(line):
                seen.add(verb.lemma)
                past = inflect_verb(verb.lemma, "VBD")
                regular = re.fullmatch(rf"{verb.lemma[:-1]}(.d|.{{1,2}}ed|ied)", past) is not None
                assert regular or verb.lemma in irregular | {"lose", "fall", "write", "read", "find", "meet", "sit"}
    assert len(seen) > 70


def test_every_pair_of_kinds_has_kinds_of_events_in_every_split() -> None:
    assert len(qa_tables.EVENTS) == 9
    for table in qa_tables.EVENTS.values():
        for split in ("train", "heldout"):
            assert len(lines_of(table, split=split)) >= 3
