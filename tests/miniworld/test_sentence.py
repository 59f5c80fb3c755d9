"""Annotated sentences: spans within bounds, roles, agreement between annotation and words."""

from collections import Counter

import pytest

from elmo_tasks.miniworld.annotation import Frame, Phrase, Role, join
from elmo_tasks.miniworld.constructions import CONSTRUCTIONS
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.scene import word, words
from elmo_tasks.miniworld.sentence import Sentence, finished, make_sentence
from elmo_tasks.miniworld.world import LABELS, World, build_world

COUNT = 3000


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Dice(7, "sentences"), people=80, stems=120, split="all")


@pytest.fixture(scope="module")
def sentences(world: World) -> list[Sentence]:
    dice = Dice(7, "sentences")
    return [make_sentence(world, dice, split="all") for _ in range(COUNT)]


def test_spans_are_within_bounds(sentences: list[Sentence]) -> None:
    seen = Counter[str]()
    for sentence in sentences:
        phrase = sentence.phrase
        for span in (*phrase.names, *phrase.mentions, *(role for frame in phrase.frames for role in frame.roles)):
            assert 0 <= span.start < span.end <= len(phrase), sentence.words
            seen[type(span).__name__] += 1
        assert all(0 <= frame.predicate < len(phrase) for frame in phrase.frames)
    assert min(seen["NamedEntity"], seen["Mention"], seen["Role"]) > COUNT


def test_predicates_are_verbs_of_their_frame(sentences: list[Sentence]) -> None:
    frames = [(s.phrase.tokens[f.predicate], f) for s in sentences for f in s.phrase.frames]
    assert len(frames) > COUNT
    for token, frame in frames:
        assert token.pos.startswith("VB")
        assert (token.lemma, token.sense) == (frame.lemma, f"{frame.lemma}.{frame.sense}")


def test_roles_of_a_frame_do_not_overlap_and_each_core_role_is_there_once(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        for frame in sentence.phrase.frames:
            spans = sorted((role.start, role.end) for role in frame.roles)
            assert all(first[1] <= second[0] for first, second in zip(spans, spans[1:], strict=False)), sentence.words
            core = Counter(role.label for role in frame.roles if role.label in ("A0", "A1"))
            assert set(core.values()) <= {1}, (sentence.words, frame)


def test_names_are_capitalised_and_do_not_overlap(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        names = sorted((name.start, name.end, name.label) for name in sentence.phrase.names)
        assert all(first[1] <= second[0] for first, second in zip(names, names[1:], strict=False))
        for start, end, _ in names:
            assert sentence.words[start][0].isupper() and sentence.words[end - 1][0].isupper(), sentence.words


def test_name_types_are_those_of_the_entities(world: World, sentences: list[Sentence]) -> None:
    labels = {entity.identifier: entity.label for entity in world.all_entities()}
    checked = 0
    for sentence in sentences:
        names = {(name.end, name.label) for name in sentence.phrase.names}
        for mention in sentence.phrase.mentions:
            if mention.form == "name":
                assert (mention.end, labels[mention.entity]) in names, sentence.words
                checked += 1
    assert checked > COUNT
    assert set(labels.values()) == set(LABELS.values())


def test_pronouns_refer_to_an_entity_named_before(sentences: list[Sentence]) -> None:
    found = [(s, m) for s in sentences for m in s.phrase.mentions if m.form == "pronoun"]
    assert len(found) > 100
    for sentence, pronoun in found:
        earlier = [m for m in sentence.phrase.mentions if m.entity == pronoun.entity and m.start < pronoun.start]
        assert any(m.form == "name" for m in earlier), sentence.words
        assert sentence.words[pronoun.start] in ("he", "she", "it", "they")


def test_negation_is_marked(sentences: list[Sentence]) -> None:
    negated = [s for s in sentences if any(f.negated for f in s.phrase.frames)]
    assert len(negated) > 30
    assert all("not" in sentence.words for sentence in negated)


def test_every_construction_occurs(sentences: list[Sentence]) -> None:
    counts = Counter(sentence.construction for sentence in sentences)
    assert set(counts) == set(CONSTRUCTIONS)
    assert min(counts.values()) > 20


def test_lengths_vary(sentences: list[Sentence]) -> None:
    lengths = [len(sentence.words) for sentence in sentences]
    assert min(lengths) >= 4 and max(lengths) <= 35
    assert min(lengths) <= 5 and max(lengths) >= 25


def test_sentences_begin_and_end_as_english_does(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        text = " ".join(sentence.words)
        assert text[0].isupper() or text[0] == '"'
        assert sentence.words[-1] in (".", "?")
        assert not any(pair in f" {text} " for pair in (" , , ", " , . ", " , ? ", " the the ", " The the ", "  ")), (
            text
        )


def test_article_agrees_with_the_next_word(sentences: list[Sentence]) -> None:
    pairs = [(a, b) for s in sentences for a, b in zip(s.words, s.words[1:], strict=False) if a in ("a", "an")]
    assert len(pairs) > 500
    for article, following in pairs:
        if following[0].lower() in "bcdfgjklmnpqrstvwxz":
            assert article == "a", following


def test_phrases_join_with_their_spans() -> None:
    role = Role(0, 1, "A0")
    verb = Phrase(words("rain fell").tokens, frames=(Frame(1, "fall", "drop", (role,)),))
    whole = join((word("yesterday"), word(","), verb.mentioning("rain:0", form="nominal")))
    assert whole.frames == (Frame(3, "fall", "drop", (Role(2, 3, "A0"),)),)
    assert (whole.mentions[0].start, whole.mentions[0].end) == (2, 4)
    assert whole.without(1).frames == (Frame(2, "fall", "drop", (Role(1, 2, "A0"),)),)


def test_finishing_drops_a_comma_before_a_mark() -> None:
    raw = words("we met Halden , a sculptor ,")
    assert finished(raw).words == ["We", "met", "Halden", ",", "a", "sculptor", "."]
