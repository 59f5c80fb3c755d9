"""The CoNLL-2012 view: legal format, all the constructions, and hard for anything that does not read the sentence."""

from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from elmo_tasks.data.ontonotes import OntonotesSentence, read_documents
from elmo_tasks.data.spans import Span
from elmo_tasks.miniworld.annotation import Frame, Role
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.scene import Scene
from elmo_tasks.miniworld.srl import DOCUMENT_LENGTH, SIZES, argument_spans, ontonotes_label
from elmo_tasks.miniworld.srl_constructions import ORDERS, draw_transfer, said_between
from elmo_tasks.miniworld.world import World, build_world

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld" / "srl"
CORE = {"ARG0", "ARG1", "ARG2"}


class Case(NamedTuple):
    """A predicate in its sentence."""

    sentence: OntonotesSentence
    predicate: int
    arguments: frozenset[Span]

    @property
    def words(self) -> tuple[str, ...]:
        return self.sentence.words

    @property
    def verb(self) -> str:
        return self.words[self.predicate].lower()


@pytest.fixture(scope="module")
def files() -> dict[str, list[OntonotesSentence]]:
    read = {name: read_documents(FOLDER / name / "world.gold_conll") for name in SIZES}
    return {name: [s for document in documents for s in document.sentences] for name, documents in read.items()}


@pytest.fixture(scope="module")
def cases(files: dict[str, list[OntonotesSentence]]) -> dict[str, list[Case]]:
    def of(sentence: OntonotesSentence) -> list[Case]:
        return [
            Case(sentence, frame.predicate, frozenset(span for span in frame.arguments if span.label != "V"))
            for frame in sentence.frames()
        ]

    return {name: [case for sentence in sentences for case in of(sentence)] for name, sentences in files.items()}


def test_sizes_documents_and_bytes(files: dict[str, list[OntonotesSentence]]) -> None:
    assert {name: len(sentences) for name, sentences in files.items()} == SIZES
    for name, size in SIZES.items():
        raw = (FOLDER / name / "world.gold_conll").read_bytes()
        assert len(raw) < 400_000 and b"\r" not in raw
        assert raw.count(b"#begin document (") == raw.count(b"#end document\n") == size / DOCUMENT_LENGTH


def test_every_sentence_has_legal_frames(cases: dict[str, list[Case]]) -> None:
    for of_one in cases.values():
        for sentence, _, arguments in of_one:
            covered = Counter(place for span in arguments for place in range(span.start, span.end))
            assert not covered or max(covered.values()) == 1
            assert sentence.pos[0] and sentence.names() is not None and sentence.mentions() == ()
        assert {case.sentence.pos[case.predicate][0] for case in of_one} == {"V"}
        assert len({id(case.sentence) for case in of_one}) < len(of_one), "some sentences have several predicates"


def test_all_roles_come(cases: dict[str, list[Case]]) -> None:
    for of_one in cases.values():
        counts = Counter(span.label for case in of_one for span in case.arguments)
        assert min(counts[label] for label in CORE) > 0.1 * counts.total()
        assert min(counts[label] for label in ("ARGM-TMP", "ARGM-LOC", "ARGM-MNR")) > 0.025 * counts.total()
        assert min(counts[label] for label in ("R-ARG0", "R-ARG1", "C-ARG1")) >= 10


def test_no_sentence_is_in_two_files(files: dict[str, list[OntonotesSentence]]) -> None:
    every = [sentence.words for sentences in files.values() for sentence in sentences]
    assert len(every) == len(set(every)) == sum(SIZES.values())


def test_heldout_verbs_and_words_are_unseen_in_part(cases: dict[str, list[Case]]) -> None:
    verbs = {case.verb for case in cases["train"]}
    for heldout in ("development", "test"):
        unseen = sum(case.verb not in verbs for case in cases[heldout])
        assert 0.2 < unseen / len(cases[heldout]) < 0.6


def test_voice_and_order_are_mixed(cases: dict[str, list[Case]]) -> None:
    """Arguments before the verb are A1 and A2, too, and those after it A0, too."""
    for of_one in cases.values():
        before = Counter(s.label for c in of_one for s in c.arguments if s.end <= c.predicate and s.label in CORE)
        after = Counter(s.label for c in of_one for s in c.arguments if s.start > c.predicate and s.label in CORE)
        assert before["ARG1"] > 0.25 * before.total() and before["ARG2"] > 0.03 * before.total()
        assert after["ARG0"] > 0.05 * after.total() and after["ARG2"] > 0.3 * after.total()


Key = Callable[[Case, int], object]
"""What a look-up model knows of a token."""


def look_up(train: list[Case], key: Key, fallback: Key) -> Callable[[Case], frozenset[Span]]:
    """The most frequent label of what is known of a token, else of what the fallback knows; equal neighbours join."""
    tables: list[dict[object, Counter[str]]] = [defaultdict(Counter), defaultdict(Counter)]
    for case in train:
        for place, label in enumerate(token_labels(case)):
            tables[0][key(case, place)][label] += 1
            tables[1][fallback(case, place)][label] += 1

    def guess(case: Case, place: int) -> str:
        found = tables[0].get(key(case, place)) or tables[1].get(fallback(case, place))
        return found.most_common(1)[0][0] if found else "O"

    def tagged(case: Case) -> frozenset[Span]:
        spans, start = set(), 0
        for label, run in groupby(guess(case, place) for place in range(len(case.words))):
            end = start + len(list(run))
            if label not in ("O", "V"):
                spans.add(Span(start, end, label))
            start = end
        return frozenset(spans)

    return tagged


def token_labels(case: Case) -> list[str]:
    labels = ["O"] * len(case.words)
    labels[case.predicate] = "V"
    for start, end, label in case.arguments:
        labels[start:end] = [label] * (end - start)
    return labels


def f1(cases: list[Case], model: Callable[[Case], frozenset[Span]]) -> float:
    guesses = [model(case) for case in cases]
    right = sum(len(case.arguments & guess) for case, guess in zip(cases, guesses, strict=True))
    return 200 * right / (sum(len(case.arguments) for case in cases) + sum(map(len, guesses)))


def distance(case: Case, place: int) -> int:
    return max(-6, min(6, place - case.predicate))


def side(case: Case, place: int) -> bool:
    return place > case.predicate


KEYS: dict[str, Key] = {
    "word and side": lambda case, place: (case.words[place], side(case, place)),
    "word and distance": lambda case, place: (case.words[place], distance(case, place)),
    "verb and distance": lambda case, place: (case.verb, distance(case, place)),
    "word, verb and distance": lambda case, place: (case.words[place], case.verb, distance(case, place)),
    "tag and distance": lambda case, place: (case.sentence.pos[place], distance(case, place)),
    "tag, form of the verb and side": lambda case, place: (
        case.sentence.pos[place],
        case.sentence.pos[case.predicate],
        side(case, place),
    ),
    "word, form of the verb and distance": lambda case, place: (
        case.words[place],
        case.sentence.pos[case.predicate],
        distance(case, place),
    ),
}


@pytest.mark.parametrize("fallback", [distance, side])
@pytest.mark.parametrize("name", KEYS)
def test_looking_up_fails(cases: dict[str, list[Case]], name: str, fallback: Key) -> None:
    model = look_up(cases["train"], KEYS[name], fallback)
    assert f1(cases["development"], model) < 30, "a highway LSTM with word vectors scores 60 and more"


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(Dice(3, "test"), people=40, stems=40, split="all")


def scene_of(world: World, number: int) -> Scene:
    dice = Dice(number, "scene")
    return Scene(world, dice, "all", dice.choice(world.entities["person"]))


@pytest.mark.parametrize("order", [order for order, _ in ORDERS], ids=lambda order: order.__name__)
def test_every_order_has_the_same_roles_over_the_same_phrases(world: World, order: Callable) -> None:
    for number in range(30):
        scene = scene_of(world, number)
        event = draw_transfer(scene)
        phrase = order(scene, event)
        frame = next(one for one in phrase.frames if one.lemma == event.frame.lemma)
        found = {role.label: " ".join(phrase.words[role.start : role.end]) for role in frame.roles}
        said = [" ".join(noun.phrase.words) for noun in (event.giver, event.thing, event.taker)]
        assert found["A1"] == said[1] and found["A2"] in (said[2], f"to {said[2]}")
        assert found.get("A0", said[0]) in (said[0], f"by {said[0]}")
        assert phrase.tokens[frame.predicate].lemma == event.frame.lemma


def test_what_is_said_goes_on_after_the_speaker(world: World) -> None:
    phrase = said_between(scene_of(world, 5))
    saying, inner = phrase.frames
    pieces = {role.label: (role.start, role.end) for role in saying.roles}
    assert pieces["A1"][0] == 0 and pieces["C-A1"][1] == len(phrase)
    assert pieces["A0"][1] == saying.predicate < inner.predicate
    assert (inner.roles[0].start, inner.roles[0].end) == pieces["A1"]


def test_labels_and_spans_of_ontonotes() -> None:
    assert [ontonotes_label(label) for label in ("A0", "R-A1", "C-A1", "AM-TMP")] == [
        *("ARG0", "R-ARG1", "C-ARG1", "ARGM-TMP")
    ]
    frame = Frame(2, "go", "walk", (Role(0, 1, "A0"), Role(3, 5, "AM-DIR")))
    assert argument_spans(frame) == [Span(2, 3, "V"), Span(0, 1, "ARG0"), Span(3, 5, "ARGM-DIR")]
