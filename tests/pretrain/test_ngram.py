"""The n-gram baselines against a slow textbook version, against numbers worked out by hand, and as distributions."""

import argparse
import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.commands.ngram import add_ngram_parser
from elmo_tasks.errors import InputError
from elmo_tasks.pretrain.ngram import (
    KneserNey,
    NgramModel,
    Unigram,
    perplexity,
    spread_sentences,
    word_ids,
)
from elmo_tasks.pretrain.vocabulary import WordVocabulary

START, END, UNKNOWN, A, B = range(5)
SIZE = 15
VOCABULARY = WordVocabulary(["<S>", "</S>", "<UNK>", "a", "b"])


def random_corpus(*, sentences: int, seed: int) -> list[list[int]]:
    """Word ids 2..13 with unequal frequencies, lengths 0..9; id 14 never comes."""
    random = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 13)
    lengths = random.integers(0, 10, sentences)
    return [(random.choice(12, n, p=weights / weights.sum()) + 2).tolist() for n in lengths]


CORPUS = random_corpus(sentences=300, seed=1)
HELD_OUT = [*random_corpus(sentences=40, seed=2), [], [14], [14, 14, 3, 4, 14]]


class TextbookKneserNey:
    """Interpolated modified Kneser-Ney with dictionaries, as the papers write it."""

    def __init__(self, sentences: list[list[int]], order: int, size: int) -> None:
        self.order, self.size = order, size
        raw: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
        for sentence in sentences:
            framed = (START, *sentence, END)
            for n in range(1, order + 1):
                raw[n].update(framed[i : i + n] for i in range(len(framed) - n + 1))
        self.counts = {n: self.adjusted(raw, n) for n in range(1, order + 1)}
        self.discounts = {n: self.discounts_of(n) for n in range(1, order + 1)}

    def adjusted(self, raw: dict[int, Counter[tuple[int, ...]]], n: int) -> dict[tuple[int, ...], int]:
        before: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for longer in raw[n + 1]:
            before[longer[1:]].add(longer[0])
        as_counted = {g: c for g, c in raw[n].items() if n == self.order or g[0] == START}
        as_preceded = {g: len(words) for g, words in before.items() if g not in as_counted}
        return {g: c for g, c in (as_counted | as_preceded).items() if g != (START,)}

    def discounts_of(self, n: int) -> list[float]:
        having = Counter(self.counts[n].values())
        if not all(having[k] for k in (1, 2, 3, 4)):
            return [0.5, 1.0, 1.5]
        y = having[1] / (having[1] + 2 * having[2])
        return [k - (k + 1) * y * having[k + 1] / having[k] for k in (1, 2, 3)]

    def probability(self, word: int, context: tuple[int, ...]) -> float:
        n = len(context) + 1
        below = self.probability(word, context[1:]) if context else 1 / (self.size - 1)
        followers = {g: c for g, c in self.counts[n].items() if g[:-1] == context}
        if not followers:
            return below
        total = sum(followers.values())
        left = sum(self.discount(n, c) for c in followers.values()) / total
        count = followers.get((*context, word), 0)
        return (count - self.discount(n, count)) / total + left * below

    def discount(self, n: int, count: int) -> float:
        return self.discounts[n][min(count, 3) - 1] if count else 0.0

    def log_probabilities(self, sentence: list[int]) -> list[float]:
        framed = (START, *sentence, END)
        contexts = [framed[max(0, i - self.order + 1) : i] for i in range(1, len(framed))]
        return [math.log(self.probability(w, c)) for w, c in zip(framed[1:], contexts, strict=True)]


def distribution(model: NgramModel, context: list[int], size: int) -> list[float]:
    """The probabilities of every class but `<S>` after the words of a sentence's beginning."""
    words = [model.log_probabilities([*context, word])[len(context)] for word in range(2, size)]
    return [math.exp(score) for score in [model.log_probabilities(context)[-1], *words]]


@pytest.mark.parametrize(("order", "estimated"), [(1, []), (2, [2]), (3, [2, 3]), (5, [2, 3, 4])])
def test_equals_the_textbook(order: int, estimated: list[int]) -> None:
    model = KneserNey.train(CORPUS, order=order, vocabulary_size=SIZE)
    textbook = TextbookKneserNey(CORPUS, order, SIZE)
    assert [n for n, found in textbook.discounts.items() if found != [0.5, 1.0, 1.5]] == estimated
    for sentence in HELD_OUT:
        expected = textbook.log_probabilities(sentence)
        np.testing.assert_allclose(model.log_probabilities(sentence), expected, rtol=1e-12)


def test_equals_the_textbook_where_sentences_are_shorter_than_the_order() -> None:
    corpus = [[3], [], [3], [4]]
    model = KneserNey.train(corpus, order=5, vocabulary_size=5)
    textbook = TextbookKneserNey(corpus, 5, 5)
    for sentence in [[], [3], [4, 3], [3, 3, 4, 4, 2, 3]]:
        expected = textbook.log_probabilities(sentence)
        np.testing.assert_allclose(model.log_probabilities(sentence), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "context",
    [[], CORPUS[0][:2], CORPUS[0][:4], [14], [14, 14, 14, 14, 14], [3, 14, 3], [13] * 6],
    ids=str,
)
@pytest.mark.parametrize("order", [1, 3, 5])
def test_kneser_ney_sums_to_one(order: int, context: list[int]) -> None:
    model = KneserNey.train(CORPUS, order=order, vocabulary_size=SIZE)
    probabilities = distribution(model, context, SIZE)
    assert min(probabilities) > 0
    assert sum(probabilities) == pytest.approx(1, abs=1e-12)


def test_a_seen_context_changes_the_distribution() -> None:
    model = KneserNey.train([[3, 4]] * 9 + [[4, 3]], order=3, vocabulary_size=5)
    after_three, after_unseen = distribution(model, [3], 5), distribution(model, [2], 5)
    assert after_three[-1] > 0.8 > after_unseen[-1]


def test_unigram_sums_to_one() -> None:
    model = Unigram.train(CORPUS, vocabulary_size=SIZE)
    assert sum(distribution(model, [3], SIZE)) == pytest.approx(1, abs=1e-12)


def test_unigram_perplexity_by_hand(tmp_path: Path) -> None:
    # Counts a 2, b 1, </S> 1, <UNK> 0, each plus one, of 8.
    model = Unigram.train([[A, A, B]], vocabulary_size=5)
    held_out = tmp_path / "held_out.txt"
    held_out.write_text("a c\n\n")
    result = perplexity(model, [held_out], VOCABULARY)
    assert result.perplexity == pytest.approx((3 / 8 * 1 / 8 * 2 / 8) ** (-1 / 3))
    assert (result.predictions, result.unknown_share) == (3, pytest.approx(1 / 3))


def test_kneser_ney_perplexity_by_hand(tmp_path: Path) -> None:
    # Bigrams <S> a 2; a b, b </S>, a a, a </S> 1 each. Different words before: a 2, b 1, </S> 2; of 5.
    # Discounts 0.5, 1, 1.5, since no count comes four times; half of each context goes down.
    model = KneserNey.train([[A, B], [A, A]], order=2, vocabulary_size=5)
    frequent, rare = (2 - 1) / 5 + 0.5 / 4, (1 - 0.5) / 5 + 0.5 / 4
    a_after_start = (2 - 1) / 2 + 0.5 * frequent
    b_after_a = (1 - 0.5) / 3 + 0.5 * rare
    end_after_b = (1 - 0.5) / 1 + 0.5 * frequent
    held_out = tmp_path / "held_out.txt"
    held_out.write_text("a b\n")
    result = perplexity(model, [held_out], VOCABULARY)
    expected = (a_after_start * b_after_a * end_after_b) ** (-1 / 3)
    assert result.perplexity == pytest.approx(expected, rel=1e-12)


def test_sentences_are_scored_apart(tmp_path: Path) -> None:
    model = KneserNey.train([[A, B], [A, A]], order=3, vocabulary_size=5)
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for file, text in zip(files, ["a b\nb", "a a\n"], strict=True):
        file.write_text(text)
    scores = [model.log_probabilities(ids) for ids in ([A, B], [B], [A, A])]
    result = perplexity(model, files, VOCABULARY)
    assert result.predictions == 8
    assert math.log(result.perplexity) == pytest.approx(-np.concatenate(scores).mean())


def test_boundaries_written_in_the_text_are_unknown_words() -> None:
    assert word_ids(["<S>", "a", "</S>", "<UNK>", "c"], VOCABULARY) == [2, A, 2, 2, 2]


def test_the_sample_is_spread_over_all_files(tmp_path: Path) -> None:
    files = [tmp_path / "long.txt", tmp_path / "short.txt"]
    files[0].write_text("".join(f"l {i}\n" for i in range(300)))
    files[1].write_text("".join(f"s {i} x x\n" for i in range(50)))
    sample = list(spread_sentences(files, tokens=200))
    assert sum(map(len, sample)) == pytest.approx(200, abs=4)
    numbers = {mark: [int(s[1]) for s in sample if s[0] == mark] for mark in "ls"}
    assert numbers["l"] == list(range(0, 300, 4))
    assert 12 <= len(numbers["s"]) <= 13
    assert max(np.diff(numbers["s"])) <= 5


def test_the_whole_text_is_the_largest_sample(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("a b\nc\n\nd e f\n")
    assert list(spread_sentences([file], tokens=100)) == [["a", "b"], ["c"], ["d", "e", "f"]]


def test_the_command_prints_a_row_per_held_out_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train, held_out = tmp_path / "train.txt", tmp_path / "heldout.txt"
    train.write_text("a b\na a\n")
    held_out.write_text("a b\n")
    VOCABULARY.save(tmp_path / "vocabulary.txt")
    parser = argparse.ArgumentParser()
    add_ngram_parser(parser.add_subparsers())
    options = ["--order", "2", "--vocabulary", str(tmp_path / "vocabulary.txt")]
    args = parser.parse_args(["ngram", str(train), "--heldout", str(held_out), *options])
    args.func(args)
    lines = capsys.readouterr().out.splitlines()
    unigram, kneser_ney = (4 / 10 * 2 / 10 * 3 / 10) ** (-1 / 3), (0.6625**2 * (0.5 / 3 + 0.1125)) ** (-1 / 3)
    assert lines[0] == "trained on 4 tokens in 2 sentences; 5 classes"
    assert lines[-1] == f"| heldout.txt | 3 | 0.00% | {unigram:.1f} | {kneser_ney:.1f} |"


@pytest.mark.parametrize("model", [Unigram, KneserNey])
def test_wrong_ids_are_refused(model: type[Unigram] | type[KneserNey]) -> None:
    wanted = "word ids from 2 to 4 were wanted"
    with pytest.raises(ValueError, match=f"{wanted}, found 1 to 3"):
        model.train([[3, 1]], vocabulary_size=5)
    trained = model.train([[3]], vocabulary_size=5)
    with pytest.raises(ValueError, match=f"{wanted}, found 3 to 5"):
        trained.log_probabilities([3, 5])


def test_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one sentence or more was wanted to count n-grams in"):
        KneserNey.train([], vocabulary_size=5)
    with pytest.raises(InputError, match="an order of 1 or more was wanted, found 0"):
        KneserNey.train([[3]], order=0, vocabulary_size=5)
    with pytest.raises(InputError, match="1 token or more was wanted for training, found 0"):
        list(spread_sentences([tmp_path / "text.txt"], tokens=0))
    with pytest.raises(InputError, match="no such file"):
        perplexity(Unigram.train([[3]], vocabulary_size=5), [tmp_path / "no.txt"], VOCABULARY)
