"""The pattern language, inflection and tags, and that every line of every table can be used."""

from dataclasses import replace

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.miniworld import frames_parts, frames_works, phrases
from elmo_tasks.miniworld.clause import ClausePlan, clause, number_of
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.lexicon import tag_of, token
from elmo_tasks.miniworld.morphology import indefinite_article, inflect_verb, noun_lemma
from elmo_tasks.miniworld.pattern import RolePattern, SameForm, Slot, Word, parse_frame, parse_pattern
from elmo_tasks.miniworld.scene import Filling, NounPhrase, Scene, described, fill, lines_of, named, words
from elmo_tasks.miniworld.subjects import FRAMES
from elmo_tasks.miniworld.world import LABELS, World, build_world


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Dice(5, "patterns"), people=40, stems=80, split="all")


def scene_about(world: World, kind: str) -> Scene:
    return Scene(world, Dice(5, kind), "all", world.entities[kind][0])


def test_items() -> None:
    assert parse_pattern("the bank=river/NN {town} &break (TMP at dawn)") == (
        Word("the", None, None),
        Word("bank", "NN", "river"),
        Slot("town"),
        SameForm("break"),
        RolePattern("AM-TMP", (Word("at", None, None), Word("dawn", None, None))),
    )


def test_frame_marks() -> None:
    frame = parse_frame("*~fall.drop (DIR from a ladder)")
    assert (frame.lemma, frame.sense, frame.subject_label, frame.stative, frame.passive) == (
        "fall",
        "drop",
        "A1",
        True,
        False,
    )
    assert parse_frame("sue.law (1 {firm})").passive
    assert not parse_frame("!sue.law (1 {firm})").passive
    assert not parse_frame("shut.close (1 {his} eyes)").passive, "an object that agrees with the subject stays one"
    assert not parse_frame("speak.talk (2 to {firm})").passive
    assert parse_frame("be.copula (2 deaf)").subject_label == "A1"


def test_unclosed_bracket() -> None:
    with pytest.raises(InputError, match=r"expected a closing bracket in the pattern '\(TMP at dawn'"):
        parse_pattern("(TMP at dawn")


def test_frame_without_sense() -> None:
    with pytest.raises(InputError, match=r"expected `lemma\.sense pattern` for a verb frame, found 'rise early'"):
        parse_frame("rise early")


def test_unknown_slot(world: World) -> None:
    with pytest.raises(InputError, match=r"expected a slot of the pattern language, found \{twon\}"):
        fill(scene_about(world, "person"), parse_pattern("near {twon}"))


@pytest.mark.parametrize(
    ("lemma", "forms"),
    [
        ("be", "be is was been"),
        ("rise", "rise rises rose risen"),
        ("carry", "carry carries carried carried"),
        ("drop", "drop drops dropped dropped"),
        ("have", "have has had had"),
        ("own", "own owns owned owned"),
        ("march", "march marches marched marched"),
    ],
)
def test_verb_forms(lemma: str, forms: str) -> None:
    assert [inflect_verb(lemma, tag) for tag in ("VB", "VBZ", "VBD", "VBN")] == forms.split()


def test_two_verbs_with_one_lemma() -> None:
    assert inflect_verb("lie", "VBD", sense="located") == "lay"
    assert inflect_verb("lie", "VBD", sense="deceive") == "lied"
    assert inflect_verb("be", "VBD", plural=True) == "were"


def test_tags_and_lemmas() -> None:
    tags = [tag_of(w) for w in ("the", "Monday", "4,200", "harbour", "banks", "brass", "wolves", "old")]
    assert tags == ["DT", "NNP", "CD", "NN", "NNS", "NN", "NNS", "JJ"]
    assert [noun_lemma(w, "NNS") for w in ("banks", "wolves", "churches", "berries")] == [
        "bank",
        "wolf",
        "church",
        "berry",
    ]
    assert token("banks", sense="river").sense == "bank.river"
    assert [indefinite_article(w) for w in ("apple", "house", "hour", "university", "Ursula")] == [
        "an",
        "a",
        "an",
        "a",
        "an",
    ]


def test_number_is_told_by_the_head() -> None:
    patterns = ("{self} 's hat/NN", "the banks/NNS=river of {self}", "{self} 's second/JJ goal/NN", "{number} steamers")
    assert [number_of(parse_pattern(pattern)) for pattern in patterns] == ["n", "p", "n", "p"]


def frames_by_kind() -> list[tuple[str, str]]:
    kinds = [(kind if kind in LABELS else "town", table) for kind, table in FRAMES.items()]
    kinds += [("novel", frames_works.NEUTRAL), ("club", frames_works.NEUTRAL_OBJECT)]
    kinds += list(frames_works.SPEECH.items())
    return [(kind, line) for kind, table in kinds for line in lines_of(table, split="all")]


def test_no_core_role_twice() -> None:
    lines = [line for _, line in frames_by_kind()]
    tables = [frames_works.DECOYS, *frames_parts.PARTS.values()]
    lines += [line.partition(" : ")[2] for table in tables for line in lines_of(table, split="all")]
    assert len(lines) > 600
    for line in lines:
        frame = parse_frame(line)
        labels = [item.label for item in frame.items if isinstance(item, RolePattern)]
        core = [frame.subject_label, *(label for label in labels if label in ("A0", "A1", "A2"))]
        assert len(core) == len(set(core)), line


def test_every_frame_gives_a_clause_in_every_form(world: World) -> None:
    lines = frames_by_kind()
    assert len(lines) > 450
    for kind, line in lines:
        scene, frame = scene_about(world, kind), parse_frame(line)
        subject = named(scene, scene.topic)
        plain = ClausePlan(frame, subject, about=subject)
        plans = [plain, replace(plain, negated=True), replace(plain, tense="past_perfect", adverb="soon")]
        plans += [replace(plain, passive=True)] if frame.passive else []
        for plan in plans:
            made = clause(scene, plan)
            assert made.frames[0].sense == frame.sense
            assert made.tokens[made.frames[0].predicate].lemma == frame.lemma, line
            assert not any("{" in word or "/" in word for word in made.words), made.words


def test_negation_and_passive_in_words(world: World) -> None:
    scene = scene_about(world, "person")
    subject = NounPhrase(words("the widow"), "f")
    frame = parse_frame("cover.hide (1 the face) (MNR with both hands)")
    plan = ClausePlan(frame, subject)
    made = [
        " ".join(clause(scene, changed).words)
        for changed in (
            plan,
            replace(plan, negated=True),
            replace(plan, passive=True, tense="will"),
            replace(plan, tense="present_perfect", negated=True),
        )
    ]
    assert made == [
        "the widow covered the face with both hands",
        "the widow did not cover the face with both hands",
        "the face will be covered with both hands by the widow",
        "the widow has not covered the face with both hands",
    ]


def test_roles_in_active_and_passive(world: World) -> None:
    scene = scene_about(world, "person")
    plan = ClausePlan(parse_frame("cover.hide (1 the face) (MNR with both hands)"), NounPhrase(words("the widow"), "f"))
    for passive in (False, True):
        made = clause(scene, replace(plan, passive=passive))
        spans = {role.label: " ".join(made.words[role.start : role.end]) for role in made.frames[0].roles}
        agent = "by the widow" if passive else "the widow"
        assert spans == {"A0": agent, "A1": "the face", "AM-MNR": "with both hands"}


def test_every_phrase_of_every_table_can_be_filled(world: World) -> None:
    tables = [phrases.DESCRIPTIONS, phrases.TITLES, phrases.RELATED_PEOPLE, frames_parts.PARTS, frames_parts.OPENERS]
    seen = 0
    for table in tables:
        assert set(table) <= set(LABELS)
        for kind, lines in table.items():
            for line in lines_of(lines, split="all"):
                scene = scene_about(world, kind)
                own = named(scene, scene.topic)
                made = described(scene, line.partition(" : ")[0], own=own, gender=own.gender)
                assert not any("{" in word or "/" in word for word in made.phrase.words)
                seen += 1
    assert seen > 300


def test_adjuncts_are_one_role_each(world: World) -> None:
    lines = [
        *lines_of(phrases.ADJUNCTS, split="all"),
        *lines_of(phrases.PERSON_ADJUNCTS, split="all"),
    ]
    assert len(lines) > 25
    for line in lines:
        made, roles = fill(scene_about(world, "person"), parse_pattern(line), Filling(gender="f"))
        assert [(role.start, role.end) for role in roles] == [(0, len(made))]
