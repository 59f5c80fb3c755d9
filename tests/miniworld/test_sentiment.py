"""The sentiment view: legal trees, labels that follow from their parts, and too hard for a bag of words."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.svm import LinearSVC

from elmo_tasks.miniworld import sentiment_operators as operators
from elmo_tasks.miniworld import sentiment_tables as tables
from elmo_tasks.miniworld.dice import Dice
from elmo_tasks.miniworld.sentiment import SHARES, SIZES, Reviewer, indefinite, lines, pairs, sentiment_files
from elmo_tasks.miniworld.sentiment_tree import (
    Node,
    capitalised,
    conceded,
    join,
    marked,
    negated,
    neutral,
    reversed_fully,
    strengthened,
    under,
    weakened,
)
from elmo_tasks.miniworld.tables import entries
from elmo_tasks.sst.trees import SentimentTree, read_trees

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld" / "sst"
Trees = dict[str, list[SentimentTree]]


@pytest.fixture(scope="module")
def trees() -> Trees:
    return {name: list(read_trees(FOLDER / f"{name}.txt")) for name in SIZES}


def test_sizes(trees: Trees) -> None:
    assert {name: len(found) for name, found in trees.items()} == SIZES
    for name in SIZES:
        raw = (FOLDER / f"{name}.txt").read_bytes()
        assert len(raw) < 150_000 and raw.isascii() and b"\r" not in raw


def test_trees_are_binary(trees: Trees) -> None:
    for found in trees.values():
        for tree in found:
            assert len(tree.phrases) == 2 * len(tree.words) - 1
            assert tree.words[-1] == "." and tree.words[0][0].isupper()
            assert 4 <= len(tree.words) <= 35


def test_every_label_is_frequent(trees: Trees) -> None:
    for found in trees.values():
        counts = Counter(int(tree.root.label) - 2 for tree in found)
        for value, share in SHARES.items():
            assert counts[value] / len(found) == pytest.approx(share / 100, abs=0.06)


def test_no_sentence_comes_twice(trees: Trees) -> None:
    every = [tree.words for found in trees.values() for tree in found]
    assert len(every) == len(set(every)) == sum(SIZES.values())


def test_another_seed_gives_other_reviews(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elmo_tasks.miniworld.sentiment.SIZES", {"train": 20})
    same, other = sentiment_files(seed=13), sentiment_files(seed=14)
    assert (FOLDER / "train.txt").read_text().startswith(same["sst/train.txt"])
    assert same != other


GOOD, SPLENDID, BAD, AWFUL = Node(1, "good"), Node(2, "splendid"), Node(-1, "bad"), Node(-2, "awful")


def test_an_opinion_in_a_relative_clause_does_not_count(trees: Trees) -> None:
    """What counts stands before the relative clause as often as behind it."""
    known = {word: 1 for topic in tables.TOPICS.values() for word in entries(topic["good"])}
    known |= {word: -1 for topic in tables.TOPICS.values() for word in entries(topic["bad"])}
    known |= {word: 1 if value > 0 else -1 for value, table in tables.COMMON.items() for word in entries(table)}
    reviewer = Reviewer(Dice(1, "test"), split="train")
    counts: Counter[tuple[bool, bool]] = Counter()
    for _ in range(300):
        tree = reviewer.nested("work")
        adjectives = [known[word] for word in tree.words if word in known]
        first, last = adjectives[0], adjectives[-1]
        counts[(first > 0) == (tree.value > 0), (last > 0) == (tree.value > 0)] += 1
    assert set(counts) == {(True, False), (False, True)}
    assert 0.3 < counts[True, False] / counts.total() < 0.7


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (negated, [1, 1, 0, -1, -1]),
        (reversed_fully, [2, 2, 0, -2, -2]),
        (strengthened, [-2, -2, 0, 2, 2]),
        (weakened, [-1, -1, 0, 1, 1]),
    ],
)
def test_what_operators_make_of_each_sentiment(rule: "type[int]", values: list[int]) -> None:
    assert [rule(value) for value in (-2, -1, 0, 1, 2)] == values


def test_composition_by_hand() -> None:
    very_good = under("very", GOOD, strengthened)
    assert str(under("not", very_good, negated)) == "(1 (2 not) (4 (2 very) (3 good)))"
    assert str(under("far from", BAD, reversed_fully)) == "(4 (2 (2 far) (2 from)) (1 bad))"
    assert (
        str(join(neutral("the play"), join(Node(0, "was"), AWFUL))) == "(0 (2 (2 the) (2 play)) (0 (2 was) (0 awful)))"
    )
    assert str(marked(", but", GOOD)) == "(3 (2 (2 ,) (2 but)) (3 good))"
    assert join(SPLENDID, BAD).value == 2 and join(BAD, GOOD).value == 1
    assert join(Node(0, "cold"), Node(0, "soup"), value=-1).value == -1


def test_a_concession_takes_one_step_from_what_prevails() -> None:
    assert [conceded(2, -1), conceded(1, -2), conceded(-2, 1), conceded(-1, 2)] == [1, 1, -1, -1]
    assert [conceded(2, 1), conceded(-2, -1)] == [2, -2]


def test_articles_and_capitals() -> None:
    assert indefinite(Node(1, "honest")).words == ("an", "honest")
    assert indefinite(neutral("ugly house")).words == ("an", "ugly", "house")
    assert capitalised(neutral("it was so")).words == ("It", "was", "so")


def test_frames_of_all_kinds_are_used(trees: Trees) -> None:
    text = " ".join(" ".join(tree.words).lower() for found in trees.values() for tree in found)
    for table in (operators.OPERATORS, operators.FRAMES, operators.QUALITY_OPERATORS):
        for rule in table:
            assert all(f"{line.lower()} " in text for line in lines(table[rule]))
    assert all(f" {word} " in f" {text} " for word in (*operators.YIELDING_FIRST, *operators.PREVAILING))


def test_adjectives_whose_sense_hangs_on_the_noun() -> None:
    values = defaultdict(set)
    for adjective, noun, value in pairs("all"):
        values[adjective].add(value)
        assert (adjective, noun, -value) not in pairs("all")
    assert len(values) > 25
    assert sum(found == {1, -1} for found in values.values()) > 22
    held_out = set(pairs("heldout"))
    assert 0.5 < len(held_out - set(pairs("train"))) / len(held_out) < 0.95


def test_facts_have_words_that_praise_or_blame_elsewhere() -> None:
    laden = {word for topic in tables.TOPICS.values() for side in ("good", "bad") for word in entries(topic[side])}
    laden |= {word for table in tables.COMMON.values() for word in entries(table)}
    laden |= {adjective for adjective, _, _ in pairs("all")} | set(entries(tables.QUALITIES[-1]))
    facts = lines(tables.FACTS)
    assert len(facts) > 50
    assert sum(bool(laden & set(fact.split())) for fact in facts) > 12


def test_held_out_reviews_have_words_unseen_in_training(trees: Trees) -> None:
    train = {word for tree in trees["train"] for word in tree.words}
    for name in ("dev", "test"):
        words = [word for tree in trees[name] for word in tree.words]
        assert 0.05 < sum(word not in train for word in words) / len(words) < 0.25


def test_the_sign_of_a_sentence_is_no_sum_of_its_words() -> None:
    """Half of the clauses turn the sentiment of their only adjective around."""
    reviewer = Reviewer(Dice(1, "test"), split="train")
    known = {word: value for value, table in tables.COMMON.items() for word in entries(table)}
    signs: Counter[bool] = Counter()
    for _ in range(600):
        clause = reviewer.about_part("work")
        for word in clause.words:
            if word in known:
                signs[(known[word] > 0) == (clause.value > 0)] += 1
    assert 0.3 < signs[False] / signs.total() < 0.6


def n_grams(words: tuple[str, ...]) -> list[str]:
    return [" ".join(words[start : start + n]) for n in (1, 2) for start in range(len(words) - n + 1)]


def bag_of_words_accuracy(train: list[SentimentTree], heldout: list[SentimentTree], *, min_phrase_length: int) -> float:
    """Accuracy, in percent, of a linear classifier over words and pairs of words, trained on phrases."""
    phrases = [(tree, phrase) for tree in train for phrase in tree.phrases if phrase.length >= min_phrase_length]
    vectorizer = CountVectorizer(analyzer=n_grams)
    inputs = vectorizer.fit_transform([tree.words[phrase.start : phrase.end] for tree, phrase in phrases])
    model = LinearSVC(C=0.05, random_state=0).fit(inputs, [phrase.label for _, phrase in phrases])
    seen = vectorizer.transform([tree.words for tree in heldout])
    return 100 * model.score(seen, [tree.root.label for tree in heldout])


def test_a_bag_of_words_fails(trees: Trees) -> None:
    assert bag_of_words_accuracy(trees["train"], trees["train"], min_phrase_length=4) > 70, (
        "it learns what it was given"
    )
    score = bag_of_words_accuracy(trees["train"], trees["dev"], min_phrase_length=4)
    assert 35 < score < 57, "the classifier with word vectors scores about 78"
