"""The entailment view: official format, balanced, and hard for anything that reads words alone."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.nli import SIZES
from elmo_tasks.miniworld.nli_families import (
    FAMILIES,
    Source,
    about,
    denied,
    label_of,
    past,
    roles,
    senses,
    wider_word,
    written,
)
from elmo_tasks.miniworld.nli_tables import ATTACHMENTS
from elmo_tasks.miniworld.world import build_world

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld" / "snli"
LABELS = ("entailment", "neutral", "contradiction")
DENIALS = {"not", "never", "no", "nothing", "neither", "nor"}

Record = dict[str, Any]


@pytest.fixture(scope="module")
def files() -> dict[str, list[Record]]:
    return {
        name: [json.loads(line) for line in (FOLDER / f"snli_1.0_{name}.jsonl").read_text().splitlines()]
        for name in SIZES
    }


@pytest.fixture(scope="module")
def source() -> Source:
    dice = Dice(5, "test")
    return Source(build_world(dice, people=20, stems=20, split="all"), dice, "all")


def words(sentence: str) -> list[str]:
    return re.findall(r"[\w']+", sentence.lower())


def gold(records: list[Record]) -> list[str]:
    return [record["gold_label"] for record in records]


def test_official_fields(files: dict[str, list[Record]]) -> None:
    fields = ["annotator_labels", "gold_label", "pairID", "sentence1", "sentence2"]
    for records in files.values():
        assert all(sorted(record) == fields for record in records)
        assert all(record["annotator_labels"] == [record["gold_label"]] for record in records)
        assert len({record["pairID"] for record in records}) == len(records)
        sentences = [record[key] for record in records for key in ("sentence1", "sentence2")]
        assert all(re.fullmatch(r"[A-Z][A-Za-z&'., ]+\.", sentence) for sentence in sentences)
        assert not any(re.search(r" [.,]|  |[.,][.,]", sentence) for sentence in sentences)


def test_sizes_and_labels(files: dict[str, list[Record]]) -> None:
    for name, records in files.items():
        assert len(records) == SIZES[name]
        counts = Counter(gold(records))
        assert set(counts) == set(LABELS)
        assert min(counts.values()) > 0.32 * len(records)


def test_no_pair_is_there_twice(files: dict[str, list[Record]]) -> None:
    every = [(record["sentence1"], record["sentence2"]) for records in files.values() for record in records]
    assert len(set(every)) == len(every) == sum(SIZES.values())


def test_words_of_denial_are_in_every_class(files: dict[str, list[Record]]) -> None:
    for key, records in ((key, records) for key in ("sentence1", "sentence2") for records in files.values()):
        shares = [
            sum(bool(DENIALS & set(words(one[key]))) for one in records if one["gold_label"] == label)
            / gold(records).count(label)
            for label in LABELS
        ]
        assert min(shares) > 0.2 and max(shares) - min(shares) < 0.2, (key, shares)


def test_length_does_not_tell_the_class(files: dict[str, list[Record]]) -> None:
    means = []
    for label in LABELS:
        lengths = [len(words(one["sentence2"])) for one in files["train"] if one["gold_label"] == label]
        means.append(sum(lengths) / len(lengths))
    assert max(means) - min(means) < 1.0, means


def test_heldout_words_are_partly_unseen(files: dict[str, list[Record]]) -> None:
    train = {word for one in files["train"] for word in words(one["sentence1"])}
    for name in ("dev", "test"):
        found = [word for one in files[name] for word in words(one["sentence1"])]
        assert 0.15 < sum(word not in train for word in found) / len(found) < 0.5


def features(record: Record, kind: str) -> dict[str, float]:
    """Which words are there: in the hypothesis, in both sentences, or the pairs of one from each, too."""
    premise, hypothesis = set(words(record["sentence1"])), set(words(record["sentence2"]))
    seen = {f"hypothesis {word}": 1.0 for word in hypothesis}
    if kind != "hypothesis":
        seen |= {f"premise {word}": 1.0 for word in premise}
        seen |= {"overlap": len(premise & hypothesis) / len(hypothesis), "new words": len(hypothesis - premise)}
    if kind == "pairs":
        seen |= {f"{first} {second}": 1.0 for first in premise for second in hypothesis}
    return seen


@pytest.mark.parametrize(("kind", "bound"), [("hypothesis", 0.48), ("bag", 0.52), ("pairs", 0.55)])
def test_bags_of_words_fail(files: dict[str, list[Record]], kind: str, bound: float) -> None:
    vectorizer = DictVectorizer()
    inputs = vectorizer.fit_transform([features(record, kind) for record in files["train"]])
    model = LogisticRegression(C=0.1, tol=0.01).fit(inputs, gold(files["train"]))
    for name in ("dev", "test"):
        score = model.score(vectorizer.transform([features(one, kind) for one in files[name]]), gold(files[name]))
        assert 0.34 < score < bound, score


def test_shares_of_the_families_are_whole() -> None:
    assert sum(family.share for family in FAMILIES) == pytest.approx(1.0)
    for size in SIZES.values():
        for family in FAMILIES:
            count = round(family.share * size)
            assert count == pytest.approx(family.share * size) and (count - round(family.neutral * count)) % 2 == 0


@pytest.mark.parametrize(
    ("known", "claimed", "label"),
    [
        (True, True, "entailment"),
        (False, False, "entailment"),
        (True, False, "contradiction"),
        (False, True, "contradiction"),
        (None, True, "neutral"),
        (None, False, "neutral"),
    ],
)
def test_labels(known: bool | None, claimed: bool, label: str) -> None:
    assert label_of(known, claimed) == label


def test_forms() -> None:
    assert past("be poor") == "was poor"
    assert past("shut the window") == past("shut the window", tag="VBN") == "shut the window"
    assert past("overtake", tag="VBN") == "overtaken"
    assert past("feel joy") == "felt joy"
    assert {denied("be poor", Dice(1, "a")) for _ in range(9)} <= {"was not poor", "was never poor"}
    assert {denied("run", Dice(seed, "a")) for seed in range(20)} == {"did not run", "never ran"}
    assert written("it was Orm") == "It was Orm."


def test_every_word_has_senses_that_are_told_apart() -> None:
    assert len(senses()) > 60
    for word, of_word in senses().items():
        assert len(of_word) > 1 and len({one.gloss for one in of_word}) == len(of_word), word
        for one in of_word:
            assert len(one.contexts) > 3, word
            for context in one.contexts:
                assert word in context.split() or past(context).split()[0] == word, (word, context)


def test_a_sense_is_claimed_by_what_it_is_or_denied_by_its_opposite() -> None:
    leave = next(one for one in senses()["left"] if one.gloss == "go away")
    found = {about(leave, "Orm", Dice(seed, "b"), claimed=True) for seed in range(60)}
    assert {("Orm went away", False), ("Orm stayed", True)} < found
    assert {("Orm did not fail to go away", False), ("Orm never failed to stay", True)} < found
    denied = {about(leave, "Orm", Dice(seed, "b"), claimed=False) for seed in range(60)}
    assert {("Orm failed to go away", False), ("Orm did not stay", True)} < denied
    river = next(one for one in senses()["bank"] if one.gloss == "the river")
    found = {about(river, "Orm", Dice(seed, "b"), claimed=False) for seed in range(60)}
    assert found == {
        (f"{topic} {what} the river", False)
        for topic in ("Orm", "the story")
        for what in ("had nothing to do with", "had to do with everything but")
    }


def test_truths_of_attachments() -> None:
    truths = dict(ATTACHMENTS)
    assert truths["unlike {b}, {a} {did}"] == {("a", 1): True, ("b", 1): False}
    assert truths["{a} {did} after {b} {also}"]["b", 1] is None
    assert truths["{a} saw {b} {deed}"]["b", 1] is True


def test_swapped_people(source: Source) -> None:
    pairs = [roles(source) for _ in range(400)]
    swapped = {}
    for pair in pairs:
        match = re.fullmatch(r"(\w+) (beat|met|praised) (\w+)\.", pair.premise)
        if match and pair.hypothesis == f"{match[3]} {match[2]} {match[1]}.":
            swapped[match[2]] = pair.label
    wanted = {"beat": "contradiction", "met": "entailment", "praised": "neutral"}
    assert swapped.items() <= wanted.items()
    bags = [set(words(pair.premise)) == set(words(pair.hypothesis)) for pair in pairs]
    assert {pair.label for pair, same in zip(pairs, bags, strict=True) if same} == set(LABELS)


def test_wider_and_narrower_words(source: Source) -> None:
    labels: dict[tuple[str, ...], set[str]] = {}
    for _ in range(300):
        pair = wider_word(source)
        key = tuple("no" if text.startswith("No ") else "some" for text in (pair.premise, pair.hypothesis))
        labels.setdefault(key, set()).add(pair.label)
    assert labels["some", "some"] == labels["no", "no"] == {"entailment", "neutral"}
    assert labels["some", "no"] == labels["no", "some"] == {"contradiction", "neutral"}
