"""
What the language model has to beat: a unigram and an interpolated modified Kneser-Ney n-gram model.

Both predict what the forward language model predicts (n words and the sentence end, `<UNK>` an ordinary class, `<S>`
never a target, sentences apart), so that perplexities compare.

Source: Chen & Goodman 1998, "An Empirical Study of Smoothing Techniques for Language Modeling"; n-grams that begin with
`<S>` keep their raw counts, as nothing can precede them (Heafield et al. 2013, "Scalable Modified Kneser-Ney Language
Model Estimation"). Departure: an order whose counts-of-counts give no discounts, as in tiny corpora, takes fixed ones.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from elmo_tasks.errors import InputError
from elmo_tasks.pretrain.sentences import SentenceSource
from elmo_tasks.pretrain.vocabulary import SENTENCE_END, SENTENCE_START, UNKNOWN, WordVocabulary

logger = logging.getLogger(__name__)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_FALLBACK_DISCOUNTS = np.array([0.0, 0.5, 1.0, 1.5])
"""Discounts of counts 0, 1, 2, and 3 or more."""


class NgramModel(Protocol):
    """What `perplexity` needs of a model."""

    def log_probabilities(self, sentence: Sequence[int]) -> Floats:
        """Natural logarithms `[n+1]` for the n word ids of a sentence and its end."""


class Unigram:
    """
    Relative frequencies with one added to every class.

    # Parameters

    log_probability : `NDArray[np.float64]`
        `[V]`, by word id; minus infinity for `<S>`.
    """

    def __init__(self, log_probability: Floats) -> None:
        self._log_probability = log_probability  # [V]

    @classmethod
    def train(cls, sentences: Iterable[Sequence[int]], *, vocabulary_size: int) -> "Unigram":
        """
        # Parameters

        sentences : `Iterable[Sequence[int]]`
            Word ids, without `<S>` and `</S>`.
        vocabulary_size : `int`
            V, the three specials among them.

        # Raises

        `InputError` where there is no sentence, `ValueError` where an id is no word's.
        """
        text = _Text.of(sentences, vocabulary_size)
        counts = np.bincount(text.ids, minlength=vocabulary_size) + 1.0
        counts[SENTENCE_START] = 0
        with np.errstate(divide="ignore"):
            return cls(np.log(counts / counts.sum()))

    def log_probabilities(self, sentence: Sequence[int]) -> Floats:
        """
        # Returns

        `NDArray[np.float64]`
            `[n+1]`, natural logarithms for the n words and the sentence end.

        # Raises

        `ValueError` where an id is no word's.
        """
        return self._log_probability[_framed(sentence, len(self._log_probability))[1:]]


class _Order(NamedTuple):
    """
    The N distinct n-grams of one order, sorted; a row is an n-gram's place among them. M rows has the order below.

    Both floats end in one entry more, for row -1: an n-gram, or a context, that was not seen.
    """

    keys: Integers
    """`[N]`: the row of the first n-1 words, times V, plus the last word."""
    discounted: Floats
    """`[N+1]`: the share of its context that an n-gram has left after the discount."""
    backoff: Floats
    """`[M+1]`: the share of each context that goes to the order below."""


class KneserNey:
    """
    An interpolated modified Kneser-Ney model; made by `train`.

    The order below the unigram is uniform over all classes but `<S>`.
    """

    def __init__(self, orders: Sequence[_Order], *, vocabulary_size: int) -> None:
        self._orders = tuple(orders)
        self._vocabulary_size = vocabulary_size

    @classmethod
    def train(cls, sentences: Iterable[Sequence[int]], *, order: int = 5, vocabulary_size: int) -> "KneserNey":
        """
        # Parameters

        sentences : `Iterable[Sequence[int]]`
            Word ids, without `<S>` and `</S>`. Memory is about 200 bytes a token at order 5.
        order : `int`
            The length of the longest n-grams.
        vocabulary_size : `int`
            V, the three specials among them.

        # Raises

        `InputError` where there is no sentence or `order` is below 1, `ValueError` where an id is no word's.
        """
        if order < 1:
            raise InputError(f"an order of 1 or more was wanted, found {order}")
        text = _Text.of(sentences, vocabulary_size)
        counted = _count(text, order, vocabulary_size)
        lengths = [1, *(len(grams.keys) for grams in counted[:-1])]
        orders = [
            _estimated(grams.keys, adjusted, contexts=contexts, vocabulary_size=vocabulary_size)
            for grams, adjusted, contexts in zip(counted, _adjusted(counted, text), lengths, strict=True)
        ]
        return cls(orders, vocabulary_size=vocabulary_size)

    def log_probabilities(self, sentence: Sequence[int]) -> Floats:
        """
        # Returns

        `NDArray[np.float64]`
            `[n+1]`, natural logarithms for the n words and the sentence end.

        # Raises

        `ValueError` where an id is no word's.
        """
        ids = _framed(sentence, self._vocabulary_size)  # [n+2]
        probabilities = np.full(len(ids), 1 / (self._vocabulary_size - 1))
        rows = np.zeros(len(ids), np.int64)
        for n, order in enumerate(self._orders[: len(ids)], start=1):
            contexts = rows[: len(ids) - n + 1]  # [n+2 - (order-1)], by first word
            rows = _find(order.keys, contexts * self._vocabulary_size + ids[n - 1 :])
            lower = probabilities[n - 1 :]
            probabilities[n - 1 :] = order.discounted[rows] + order.backoff[contexts] * lower
        return np.log(probabilities[1:])


class _Text(NamedTuple):
    """P positions: the sentences one after another, each between `<S>` and `</S>`."""

    ids: Integers
    """`[P]`"""
    left: Integers
    """`[P]`: tokens from here to the end of the sentence, both counted."""

    @classmethod
    def of(cls, sentences: Iterable[Sequence[int]], vocabulary_size: int) -> "_Text":
        framed = [_framed(sentence, vocabulary_size) for sentence in sentences]
        if not framed:
            raise InputError("one sentence or more was wanted to count n-grams in, found none")
        lengths = [len(sentence) for sentence in framed]
        ids = np.concatenate(framed)
        return cls(ids, np.repeat(np.cumsum(lengths), lengths) - np.arange(len(ids)))


def _framed(sentence: Sequence[int], vocabulary_size: int) -> Integers:
    ids = np.array([SENTENCE_START, *sentence, SENTENCE_END], np.int64)
    words = ids[1:-1]
    if len(words) and (words.min() < UNKNOWN or words.max() >= vocabulary_size):
        found = f"found {words.min()} to {words.max()}"
        raise ValueError(f"word ids from {UNKNOWN} to {vocabulary_size - 1} were wanted, {found}")
    return ids


class _Counted(NamedTuple):
    """The N distinct n-grams of one order in a text of P positions."""

    keys: Integers
    """`[N]`, as `_Order.keys`."""
    counts: Integers
    """`[N]`"""
    first: Integers
    """`[N]`: where in the text each n-gram comes first."""
    rows: Integers
    """`[P]`: the row of the n-gram that begins at each position; -1 where none does."""


def _count(text: _Text, order: int, vocabulary_size: int) -> list[_Counted]:
    counted = []
    rows = np.zeros(len(text.ids), np.int64)
    for n in range(1, order + 1):
        starts = np.flatnonzero(text.left >= n)
        if not len(starts):
            break
        wanted = rows[starts] * vocabulary_size + text.ids[starts + n - 1]
        keys, first, inverse, counts = np.unique(wanted, return_index=True, return_inverse=True, return_counts=True)
        rows = np.full(len(text.ids), -1)
        rows[starts] = inverse
        counted.append(_Counted(keys, counts, starts[first], rows))
    return counted


def _adjusted(counted: list[_Counted], text: _Text) -> Iterator[Integers]:
    """Per order, `[N]`: counts in the highest, below it the number of different words before."""
    for n, grams in enumerate(counted, start=1):
        adjusted = grams.counts
        if n < len(counted):
            before = np.bincount(grams.rows[counted[n].first + 1], minlength=len(adjusted))
            adjusted = np.where(text.ids[grams.first] == SENTENCE_START, adjusted, before)
        if n == 1:
            adjusted = np.where(grams.keys == SENTENCE_START, 0, adjusted)
        yield adjusted


def _estimated(keys: Integers, adjusted: Integers, *, contexts: int, vocabulary_size: int) -> _Order:
    context = keys // vocabulary_size  # [N]
    removed = _discounts(adjusted)[np.minimum(adjusted, 3)]  # [N]
    total = np.bincount(context, weights=adjusted, minlength=contexts)  # [M]
    given = np.bincount(context, weights=removed, minlength=contexts)  # [M]
    backoff = np.divide(given, total, out=np.ones(contexts), where=total > 0)
    return _Order(
        keys,
        discounted=np.append((adjusted - removed) / total[context], 0.0),
        backoff=np.append(backoff, 1.0),
    )


def _discounts(adjusted: Integers) -> Floats:
    """Discounts of counts 0, 1, 2, and 3 or more, from how many n-grams have each count."""
    with_count = np.bincount(np.minimum(adjusted, 5), minlength=6)[1:5].astype(np.float64)
    if with_count.all():
        y = with_count[0] / (with_count[0] + 2 * with_count[1])
        k = np.arange(1, 4)
        found = k - (k + 1) * y * with_count[1:] / with_count[:-1]
        if (found > 0).all():
            return np.append(0.0, found)
    logger.info("no discounts from counts-of-counts %s: fixed ones taken", with_count)
    return _FALLBACK_DISCOUNTS


def _find(keys: Integers, wanted: Integers) -> Integers:
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, places, -1)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """
    A model's score on a text.

    # Parameters

    perplexity : `float`
        `exp` of the mean loss per prediction.
    predictions : `int`
        Words and sentence ends.
    unknown_share : `float`
        The share of predictions that are `<UNK>`.
    """

    perplexity: float
    predictions: int
    unknown_share: float


def perplexity(model: NgramModel, files: Iterable[str | Path], vocabulary: WordVocabulary) -> HeldOut:
    """
    Scores tokenised text, a sentence a line, plain or gzip; blank lines are skipped.

    # Raises

    `InputError` where a file is unreadable or the files hold no sentence.
    """
    total, predictions, unknown = 0.0, 0, 0
    for words in SentenceSource(files, shuffle=False, seed=0).once(0):
        ids = word_ids(words, vocabulary)
        scores = model.log_probabilities(ids)
        total += float(scores.sum())
        predictions += len(scores)
        unknown += ids.count(UNKNOWN)
    return HeldOut(float(np.exp(-total / predictions)), predictions, unknown / predictions)


def word_ids(words: Iterable[str], vocabulary: WordVocabulary) -> list[int]:
    """The ids of words; `<S>` and `</S>` written in the text are words outside the vocabulary."""
    return [max(vocabulary.id(word), UNKNOWN) for word in words]


def spread_sentences(files: Iterable[str | Path], *, tokens: int) -> Iterator[list[str]]:
    """
    Sentences of about `tokens` tokens, spread evenly over all text of the files: after any stretch of text, the same
    share of its tokens has been taken. Boundaries do not count. Reads the files twice.

    # Raises

    `InputError` where `tokens` is below 1, a file is unreadable or the files hold no sentence.
    """
    if tokens < 1:
        raise InputError(f"1 token or more was wanted for training, found {tokens}")
    source = SentenceSource(files, shuffle=False, seed=0)
    total = sum(map(len, source.once(0)))
    seen = taken = 0
    for sentence in source.once(0):
        if taken * total <= seen * tokens:
            taken += len(sentence)
            yield sentence
        seen += len(sentence)
