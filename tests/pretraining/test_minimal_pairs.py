"""Minimal pairs: what is read, what counts as correct, and the interval."""

import json
import math
import random
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.export import load_trained
from elmo_tasks.pretraining.scores.minimal_pairs import (
    GroupCounts,
    Pair,
    accuracy,
    read_pairs,
    score_pairs,
)
from elmo_tasks.pretraining.scores.surprisal import WordSurprisal
from tests.pretraining import toy


@pytest.fixture(scope="module")
def surprisal(tmp_path_factory: pytest.TempPathFactory) -> WordSurprisal:
    run = tmp_path_factory.mktemp("pairs") / "run"
    toy.fake_run(run)
    trained = load_trained(run)
    return WordSurprisal(trained.model, trained.vocabulary)


def test_pairs_of_blimp_and_others(tmp_path: Path) -> None:
    pairs = [
        {"sentence_good": "A b .", "sentence_bad": "A c .", "UID": "x", "field": "y"},
        {"good": ["New York", "is"], "bad": "b  c", "UID": 7, "field": "z"},
        {"good": "a", "bad": "b"},
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, pairs)) + "\n")
    assert list(read_pairs([file], str.split)) == [
        Pair(["A", "b", "."], ["A", "c", "."], "x", str(file), 1),
        Pair(["New York", "is"], ["b", "c"], "7", str(file), 2, 1),
        Pair(["a"], ["b"], "", str(file), 3, 2),
    ]
    groups = [pair.group for pair in read_pairs([file], str.split, group="field")]
    assert groups == ["y", "z", ""]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", r"2: expected an object with sentence_good and sentence_bad or good"),
        ('{"good": "a"}', "2: expected an object with sentence_good and sentence_bad"),
        ('{"good": "a", "bad": " "}', "2: bad: expected a text or a list of words"),
        ('{"good": ["a", 1], "bad": "b"}', "2: good: expected a text or a list"),
        ('{"good": ["a", ""], "bad": "b"}', "2: good: expected a text or a list"),
        ('{"good": "a", "bad": "b", "UID": [1]}', r"2: UID: expected a name, got \[1"),
        (
            '{"good": "a", "bad": "b", "UID": "all"}',
            "2: UID: expected a name that is not that of a total, got 'all'",
        ),
        ('{"good": "a", ', "2: expected a JSON object, got"),
    ],
)
def test_lines_that_are_no_pairs(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(f'{{"good": "a", "bad": "b"}}\n{line}\n')
    with pytest.raises(InputError, match=f"^{file}:{message}"):
        list(read_pairs([file], str.split))
    file.write_text("\n")
    with pytest.raises(InputError, match="expected pairs of sentences, got none"):
        list(read_pairs([file], str.split))


def test_accuracy_of_groups(surprisal: WordSurprisal) -> None:
    """Against the sums of each sentence by itself."""
    rng = random.Random(2)
    pairs = []
    for number in range(40):
        good, bad = toy.sentences(2, seed=number)
        words = good.split()
        if number % 10 == 0:
            bad = good
        if number % 4 == 0:
            words.append("unheard")
        pairs.append(Pair(words, bad.split(), rng.choice(["b", "a", ""])))
    counts = GroupCounts()
    correct = {"a": [0.0] * 3, "b": [0.0] * 3, "all": [0.0] * 3}
    for pair, scored in zip(pairs, score_pairs(surprisal, pairs), strict=True):
        assert scored.pair == pair
        counts.add(scored)
        (good,) = surprisal.score([pair.good])
        (bad,) = surprisal.score([pair.bad])
        forward = bad.forward_sum - good.forward_sum
        backward = bad.backward_sum - good.backward_sum
        for name in {pair.group, "all"} - {""}:
            for place, advantage in enumerate((forward, backward, forward + backward)):
                is_tie = pair.good == pair.bad
                correct[name][place] += 0.5 if is_tie else float(advantage > 0)
    rows = {row.group: row for row in counts.accuracies()}
    assert list(rows) == ["a", "b", "all", "all without <UNK>"]
    for name, numbers in correct.items():
        row = rows[name]
        found = [row.forward.percent, row.backward.percent, row.mean.percent]
        assert found == pytest.approx([100 * one / row.pairs for one in numbers])
    assert rows["a"].pairs + rows["b"].pairs < rows["all"].pairs == 40
    assert rows["all"].unknown == pytest.approx(25)
    assert rows["all without <UNK>"].pairs == 30
    assert rows["all without <UNK>"].unknown == 0


def test_ties_are_half_correct(surprisal: WordSurprisal) -> None:
    """Whatever batches the two sentences are computed in."""
    counts = GroupCounts()
    lines = toy.sentences(300, seed=3)
    for scored in score_pairs(
        surprisal, [Pair(line.split(), line.split()) for line in lines]
    ):
        counts.add(scored)
    (row,) = counts.accuracies()
    assert row.forward.percent == row.backward.percent == row.mean.percent == 50
    assert (row.ties, row.pairs) == (300, 300)


def test_swapped_pairs(surprisal: WordSurprisal) -> None:
    """
    A pair is as wrong as it is right with its sentences swapped, also where the model
    does not see the difference.
    """
    long = "x" * 60
    pairs = [Pair(["the", f"{long}1", "."], ["the", f"{long}2", "."])]
    pairs.append(Pair(["a\ud800b"], ["ab"]))
    for number in range(20):
        good, bad = toy.sentences(2, seed=number)
        pairs.append(Pair(good.split(), bad.split()))
    rows = []
    for ordered in (pairs, [Pair(pair.bad, pair.good) for pair in pairs]):
        counts = GroupCounts()
        for scored in score_pairs(surprisal, ordered):
            counts.add(scored)
        rows.append(counts.accuracies()[-2])
    there, back = rows
    equal = [pair for pair in pairs if pair.good == pair.bad]
    assert there.ties == back.ties == len(equal) + 2
    for one, other in zip(there[2:5], back[2:5], strict=True):
        assert one.percent == pytest.approx(100 - other.percent)


@pytest.mark.parametrize("pairs", [1, 7, 50])
def test_the_interval(pairs: int) -> None:
    """
    Its ends are the shares from which the one that was found is 1.96 standard errors
    away.
    """
    for correct in (0, pairs / 2, pairs):
        found = accuracy(correct, pairs)
        assert 0 <= found.low <= found.percent <= found.high <= 100
        for end in (found.low / 100, found.high / 100):
            error = math.sqrt(end * (1 - end) / pairs)
            distance = abs(end - correct / pairs)
            assert distance == pytest.approx(1.959964 * error, abs=1e-6)
