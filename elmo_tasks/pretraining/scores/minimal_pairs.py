"""
Minimal pairs, such as those of BLiMP (Warstadt et al. 2020): is the good sentence more
probable than the bad one?
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.elmo.sentences import word_list, words_of
from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_files import parse_json
from elmo_tasks.formats.text.raw_text import Split
from elmo_tasks.formats.text.text_files import not_empty, open_text
from elmo_tasks.option_values import PAIR_GROUP
from elmo_tasks.pretraining.scores.surprisal import SentenceSurprisal, WordSurprisal

CHANCE = 50.0
"""The accuracy of guessing, in percent. A tie counts as half a correct pair."""

ALL, ALL_KNOWN = "all", "all without <UNK>"
"""The names of the totals, which no group may have."""

_KEYS = (("sentence_good", "sentence_bad"), ("good", "bad"))
_Z = 1.959963984540054  # of the normal distribution, for 95 %
_MEASURES = 3  # forward, backward, mean


class Pair(NamedTuple):
    """The words of two sentences, the first of which is to be more probable."""

    good: list[str]
    bad: list[str]
    group: str = ""
    file: str = ""
    line: int = 0
    row: int = 0  # its number among the pairs of the file


class ScoredPair(NamedTuple):
    """
    A pair and the surprisal of its sentences, each from zero states; `is_tie` says
    whether both are the same for the model.
    """

    pair: Pair
    good: SentenceSurprisal
    bad: SentenceSurprisal
    is_tie: bool

    @property
    def has_unknown(self) -> bool:
        """Whether a word of either sentence is outside the vocabulary."""
        return any(self.good.is_unknown) or any(self.bad.is_unknown)

    def advantages(self) -> tuple[float, float, float]:
        """
        By how many bits the good sentence is more probable: forward, backward, and the
        mean of both.
        """
        forward = self.bad.forward_sum - self.good.forward_sum
        backward = self.bad.backward_sum - self.good.backward_sum
        return forward, backward, (forward + backward) / 2


class Accuracy(NamedTuple):
    """Correct pairs in percent, and their 95 % interval (Wilson 1927)."""

    percent: float
    low: float
    high: float


class GroupAccuracy(NamedTuple):
    """The accuracies of the pairs of a group."""

    group: str
    pairs: int
    forward: Accuracy
    backward: Accuracy
    mean: Accuracy  # by the mean of both directions' log-probabilities
    ties: int  # pairs of sentences that are the same for the model
    unknown: float  # percent of the pairs with a word outside the vocabulary


def read_pairs(
    files: Iterable[str | Path], split: Split, *, group: str = PAIR_GROUP
) -> Iterator[Pair]:
    """
    The pairs of JSON lines with the fields `sentence_good` and `sentence_bad`, as in
    BLiMP, or `good` and `bad`: texts for `split`, or lists of words. `group` is the
    field with the name of a pair's group, if it has one.

    Raises `InputError` with the line if it has no such sentences, or a file has no
    line.
    """
    for file in files:
        lines = not_empty(_lines(file), "expected pairs of sentences, got none", file)
        for row, (number, line) in enumerate(lines):
            value = parse_json(line, "a JSON object", file=file, line=number)
            try:
                pair = _pair(value, split, group)
            except InputError as error:
                raise InputError(str(error), file=file, line=number) from None
            yield pair._replace(file=str(file), line=number, row=row)


def _lines(file: str | Path) -> Iterator[tuple[int, str]]:
    """Those that are not blank."""
    for number, line in open_text(file):
        if line.strip():
            yield number, line


def _pair(value: Any, split: Split, group: str) -> Pair:
    """Raises `InputError` for an object that is no pair."""
    for keys in _KEYS:
        if isinstance(value, dict) and set(keys) <= value.keys():
            good, bad = [_words(value, key, split) for key in keys]
            name = value.get(group, "")
            if not isinstance(name, str | int):
                raise InputError(f"{group}: expected a name, got {shown(name)}")
            if name in (ALL, ALL_KNOWN):
                problem = f"{group}: expected a name that is not that of a total"
                raise InputError(f"{problem}, got {shown(name)}")
            return Pair(good, bad, str(name))
    names = " or ".join([" and ".join(keys) for keys in _KEYS])
    raise InputError(f"expected an object with {names}, got {shown(value)}")


def _words(value: dict[str, Any], key: str, split: Split) -> list[str]:
    """The words of a sentence. Raises `InputError` if there is none."""
    given = value[key]
    words: list[str] | None
    if isinstance(given, str):
        words = words_of(given, split)
    else:
        words = word_list(given)
    if not words or "" in words:
        problem = f"{key}: expected a text or a list of words"
        raise InputError(f"{problem}, got {shown(given)}")
    return words


def score_pairs(
    surprisal: WordSurprisal, pairs: Iterable[Pair]
) -> Iterator[ScoredPair]:
    """The surprisal of a stream of pairs, in the same order."""
    waiting: deque[Pair] = deque()

    def sentences() -> Iterator[list[str]]:
        for pair in pairs:
            waiting.append(pair)
            yield pair.good
            yield pair.bad

    found = surprisal.iter_score(sentences())
    for good in found:
        bad = next(found)
        pair = waiting.popleft()
        yield ScoredPair(pair, good, bad, surprisal.reads_alike(good.words, bad.words))


class PairCounts:
    """Counts the pairs of a group: `add` each, then `accuracy`."""

    def __init__(self) -> None:
        self.pairs = 0
        self._ties = 0
        self._unknown = 0
        self._correct = [0.0] * _MEASURES

    def add(self, scored: ScoredPair) -> None:
        self.pairs += 1
        self._ties += scored.is_tie
        self._unknown += scored.has_unknown
        for measure, advantage in enumerate(scored.advantages()):
            if scored.is_tie or advantage == 0:
                self._correct[measure] += 0.5
            elif advantage > 0:
                self._correct[measure] += 1

    def accuracy(self, group: str) -> GroupAccuracy:
        """The accuracies of what was counted, at least one pair."""
        forward, backward, mean = [accuracy(n, self.pairs) for n in self._correct]
        unknown = 100 * self._unknown / self.pairs
        return GroupAccuracy(
            group, self.pairs, forward, backward, mean, self._ties, unknown
        )


class GroupCounts:
    """Counts pairs by their group: `add` each, then `accuracies`."""

    def __init__(self) -> None:
        self._counts: dict[str, PairCounts] = {}

    def add(self, scored: ScoredPair) -> None:
        names = [ALL]
        if not scored.has_unknown:
            names.append(ALL_KNOWN)
        if scored.pair.group:
            names.append(scored.pair.group)
        for name in names:
            self._counts.setdefault(name, PairCounts()).add(scored)

    def accuracies(self) -> list[GroupAccuracy]:
        """
        Those of each group by name, of `all` pairs, and of all pairs without a word
        outside the vocabulary if there are others, too.
        """
        names = sorted(self._counts.keys() - {ALL, ALL_KNOWN}) + [ALL]
        known = self._counts.get(ALL_KNOWN)
        if known is not None and known.pairs < self._counts[ALL].pairs:
            names.append(ALL_KNOWN)
        return [self._counts[name].accuracy(name) for name in names]


def accuracy(correct: float, pairs: int) -> Accuracy:
    """
    The share of `correct` of N pairs in percent, with the score interval of Wilson
    (1927) for 95 %: for a share p and z = 1.96,

        (p + z^2 / 2N +- z sqrt(p (1 - p) / N + z^2 / 4N^2)) / (1 + z^2 / N)
    """
    share = correct / pairs
    square = _Z * _Z / pairs
    middle = (share + square / 2) / (1 + square)
    root = math.sqrt(share * (1 - share) / pairs + square / (4 * pairs))
    half = _Z * root / (1 + square)
    # Rounding may put an end beyond the share itself.
    low = max(0.0, min(share, middle - half))
    return Accuracy(100 * share, 100 * low, 100 * min(1.0, max(share, middle + half)))
