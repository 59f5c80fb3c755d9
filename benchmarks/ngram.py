"""
Perplexities of a unigram and an interpolated modified Kneser-Ney model, for the card of the embedded biLM.

Both predict the words and the sentence end, with the vocabulary of the biLM, so that perplexities are comparable.

Source: Chen & Goodman 1998, "An Empirical Study of Smoothing Techniques for Language Modeling"; n-grams that begin with
`<S>` keep their raw counts (Heafield et al. 2013). An order whose counts-of-counts give no discounts has fixed ones.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elmo_tasks.pretraining.sentences import expand_files, read_sentences
from elmo_tasks.pretraining.vocabulary import SENTENCE_END, SENTENCE_START, UNKNOWN, WordVocabulary

VOCABULARY = Path(__file__).resolve().parents[1] / "fixtures/bilm/vocabulary.txt"

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Text(NamedTuple):
    """The ids [P] of all tokens, each sentence between `<S>` and `</S>`, and their indices [P] in the sentence."""

    ids: Integers
    index: Integers

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], vocabulary: WordVocabulary) -> "Text":
        ids: list[int] = []
        index: list[int] = []
        for words in sentences:
            ids += [SENTENCE_START, *(max(vocabulary.id(word), UNKNOWN) for word in words), SENTENCE_END]
            index += range(len(words) + 2)
        return cls(np.array(ids), np.array(index))


class Order(NamedTuple):
    """The N n-grams of one order. A row is an n-gram's index; row -1, an unseen n-gram, has the last entry."""

    keys: Integers  # [N], sorted: the row of the first n-1 words, times the vocabulary size, plus the last word
    discounted: Floats  # [N + 1], the n-gram's share of its context after discounting
    backoff: Floats  # [M + 1], the share of each of M contexts that goes to the lower order


def context_keys(rows: Integers, text: Text, classes: int) -> tuple[Integers, Integers]:
    """From the rows [P] of the (n-1)-grams that end at each token: context rows and keys of the n-grams."""
    contexts = np.concatenate([[0], rows[:-1]])
    return contexts, contexts * classes + text.ids


def train_kneser_ney(text: Text, *, order: int, classes: int) -> list[Order]:
    """The orders from 1 up to `order`."""
    rows, counted = np.zeros(len(text.ids), np.int64), []
    for n in range(1, order + 1):
        ends = np.flatnonzero(text.index >= n - 1)
        expected = context_keys(rows, text, classes)[1][ends]
        keys, first, inverse, counts = np.unique(expected, return_index=True, return_inverse=True, return_counts=True)
        rows = np.full(len(text.ids), -1)
        rows[ends] = inverse
        counted.append((keys, ends[first], counts, rows))
    orders, contexts = [], 1
    for n, (keys, last, counts, rows) in enumerate(counted, start=1):
        if n < order:
            preceding = np.bincount(rows[counted[n][1]], minlength=len(keys))  # different preceding words
            counts = np.where(text.ids[last - n + 1] == SENTENCE_START, counts, preceding)
        if n == 1:
            counts = np.where(keys == SENTENCE_START, 0, counts)
        orders.append(estimate(keys, counts, contexts=contexts, classes=classes))
        contexts = len(keys)
    return orders


def estimate(keys: Integers, counts: Integers, *, contexts: int, classes: int) -> Order:
    context = keys // classes
    removed = discounts(counts)[np.minimum(counts, 3)]
    total, freed = (np.bincount(context, weights=weights, minlength=contexts) for weights in (counts, removed))
    backoff = np.divide(freed, total, out=np.ones(contexts), where=total > 0)
    return Order(keys, np.append((counts - removed) / total[context], 0.0), np.append(backoff, 1.0))


def discounts(counts: Integers) -> Floats:
    """Discounts of counts 0, 1, 2, and 3 or more."""
    n = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].astype(float)
    if n.all():
        k = np.arange(1, 4)
        found = k - (k + 1) * n[0] / (n[0] + 2 * n[1]) * n[1:] / n[:-1]
        if (found > 0).all():
            return np.append(0.0, found)
    return np.array([0.0, 0.5, 1.0, 1.5])


def kneser_ney(orders: Sequence[Order], text: Text, classes: int) -> Floats:
    """The probability [P] of each token; that of `<S>` is meaningless."""
    probabilities = np.full(len(text.ids), 1 / (classes - 1))
    rows = np.zeros(len(text.ids), np.int64)
    for n, order in enumerate(orders, start=1):
        contexts, expected = context_keys(rows, text, classes)
        found = np.minimum(np.searchsorted(order.keys, expected), len(order.keys) - 1)
        rows = np.where((order.keys[found] == expected) & (text.index >= n - 1), found, -1)
        updated = order.discounted[rows] + order.backoff[contexts] * probabilities
        probabilities = np.where(text.index >= n - 1, updated, probabilities)
    return probabilities


def unigram(train: Text, text: Text, classes: int) -> Floats:
    """The probability [P] of each token, with add-one smoothing."""
    counts = np.bincount(train.ids, minlength=classes) + 1.0
    return counts[text.ids] / (counts.sum() - counts[SENTENCE_START])


def perplexity(probabilities: Floats, text: Text) -> float:
    return float(np.exp(-np.log(probabilities[text.ids != SENTENCE_START]).mean()))


def sample(files: Sequence[Path], *, tokens: int) -> Iterator[list[str]]:
    """Sentences with about `tokens` tokens, spread evenly over the files."""
    total = sum(map(len, read_sentences(files)))
    seen = taken = 0
    for sentence in read_sentences(files):
        if taken * total <= seen * tokens:
            taken += len(sentence)
            yield sentence
        seen += len(sentence)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", nargs="+", metavar="TRAIN", help="text files or globs, plain or gzip")
    parser.add_argument("--heldout", nargs="+", required=True, metavar="FILE", help="held-out text files or globs")
    parser.add_argument("--tokens", type=int, default=5_000_000, help="size of the training sample")
    parser.add_argument("--order", type=int, default=5, help="length of the longest n-grams")
    parser.add_argument("--vocabulary", default=VOCABULARY, metavar="FILE", help="vocabulary.txt of a biLM")
    args = parser.parse_args()
    vocabulary = WordVocabulary.from_file(args.vocabulary)
    classes = len(vocabulary)
    train = Text.of(sample(expand_files(args.train), tokens=args.tokens), vocabulary)
    orders = train_kneser_ney(train, order=args.order, classes=classes)
    print(
        f"| held-out text | predictions | <UNK> | unigram | Kneser-Ney {args.order}-gram |\n|---|---:|---:|---:|---:|"
    )
    for file in expand_files(args.heldout):
        text = Text.of(read_sentences([file]), vocabulary)
        predictions = int((text.ids != SENTENCE_START).sum())
        models = (unigram(train, text, classes), kneser_ney(orders, text, classes))
        scores = " | ".join(f"{perplexity(probabilities, text):.1f}" for probabilities in models)
        unknown = float((text.ids == UNKNOWN).sum()) / predictions
        print(f"| {file.name} | {predictions:,} | {unknown:.2%} | {scores} |", flush=True)


if __name__ == "__main__":
    main()
