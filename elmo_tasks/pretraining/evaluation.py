"""Exact perplexity (paper, section 3.1), scores of sentences, and accuracy on minimal pairs (Warstadt et al. 2020)."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
from allennlp.training.metrics import Metric
from scipy.stats import binomtest
from tqdm import tqdm

from elmo_tasks.bilm.bilm import DIRECTIONS
from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.errors import InputError, require_sizes
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.pretraining.language_model import BiLanguageModel, LmOutput
from elmo_tasks.pretraining.sentences import check_text, read_sentences
from elmo_tasks.pretraining.stream import LmStates, LmStream, sentence_batch
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary

ROWS, UNROLL = 32, 20
"""Rows carry their states through the text, as in training; each starts from zeros."""


class PerplexityReport(NamedTuple):
    """Perplexities: `exp` of a direction's mean negative log-likelihood per token, and their means."""

    forward: float
    backward: float
    geometric: float  # which bilm-tf prints
    arithmetic: float  # the paper mentions an average
    unknown_share: float  # of `<UNK>` among the targets of both directions
    tokens: int  # targets of both directions, sentence ends included
    interval: tuple[float, float]  # 95 % normal interval of the geometric mean, over the batches; NaN for one batch
    batches: int


class Perplexity(Metric):
    """Token-weighted perplexity over batches."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._nll = dict.fromkeys(DIRECTIONS, 0.0)
        self._count = dict.fromkeys(DIRECTIONS, 0)
        self._unknown = 0
        self._batches: list[tuple[float, int]] = []  # negative log-likelihood and targets of both directions

    def __call__(self, output: LmOutput, unknown: int) -> None:
        """
        Count a batch, of whose targets `unknown` are `<UNK>`.

        Raises `InputError` if a negative log-likelihood is not finite; the batch is then not counted.
        """
        sums = {name: float(getattr(output, f"{name}_nll")) for name in DIRECTIONS}
        for name, value in sums.items():
            if not math.isfinite(value):
                raise InputError(
                    f"expected a finite {name} negative log-likelihood, got {value}",
                    hint="the training diverged or the weights are damaged: lower the learning rate",
                )
        for name in DIRECTIONS:
            self._nll[name] += sums[name]
            self._count[name] += int(getattr(output, f"{name}_count"))
        self._unknown += unknown
        self._batches.append((sum(sums.values()), sum(int(getattr(output, f"{name}_count")) for name in DIRECTIONS)))

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """`perplexity` (the geometric mean), that of each direction, and `unknown`; empty before the first token."""
        if not any(self._count.values()):
            return {}
        report = self.report()
        if reset:
            self.reset()
        return {
            "perplexity": report.geometric,
            "forward_perplexity": report.forward,
            "backward_perplexity": report.backward,
            "unknown": report.unknown_share,
        }

    def report(self) -> PerplexityReport:
        """The perplexities so far; raises `InputError` if nothing was counted."""
        if not all(self._count.values()):
            raise InputError("no token was counted, so there is no perplexity", hint="is the text empty?")
        means = [self._nll[name] / self._count[name] for name in DIRECTIONS]
        forward, backward = map(_exp, means)
        tokens = sum(self._count.values())
        mean, half = sum(means) / 2, self._half_width()
        interval = _exp(mean - half), _exp(mean + half)
        unknown, batches = self._unknown / tokens, len(self._batches)
        return PerplexityReport(
            forward, backward, _exp(mean), (forward + backward) / 2, unknown, tokens, interval, batches
        )

    def _half_width(self) -> float:
        """Of the 95 % normal interval of the mean negative log-likelihood, a ratio of sums over batches."""
        if (n := len(self._batches)) < 2:
            return math.nan
        total, count = map(sum, zip(*self._batches, strict=True))
        squares = sum((nll - targets * total / count) ** 2 for nll, targets in self._batches)
        return 1.96 * math.sqrt(n / (n - 1) * squares) / count


def _exp(value: float) -> float:
    return math.inf if value >= 709.0 else math.exp(value)  # beyond, a float overflows


def first_sentences(files: Iterable[str | Path], *, max_tokens: int | None = None) -> Iterator[list[str]]:
    """
    The sentences of the files in order; with `max_tokens`, whole sentences from the start of each file until its share
    of so many predictions is reached.

    Raises `InputError` if a file is unreadable or has no sentence.
    """
    paths = list(files)
    share = None if max_tokens is None else max(1, max_tokens // len(paths))
    for path in paths:
        predictions = 0
        for sentence in read_sentences([path]):
            yield sentence
            predictions += len(sentence) + 1
            if share is not None and predictions >= share:
                break


@torch.no_grad()
def perplexity(
    model: BiLanguageModel,
    vocabulary: WordVocabulary,
    files: Iterable[str | Path],
    *,
    rows: int = ROWS,
    unroll: int = UNROLL,
    max_tokens: int | None = None,
) -> Iterator[tuple[str, PerplexityReport]]:
    """
    Perplexity by file, then over all files (`all`) if there are several.

    Each file starts from zero states, and stops at the first sentence end after `max_tokens` predictions per direction.
    The model is set to evaluation mode. Raises `InputError` if a file is unreadable or has no sentence, or a number is
    below 1.
    """
    require_sizes(max_tokens=max_tokens)
    model.eval()
    paths = [Path(file) for file in files]
    check_text(paths)
    total = Perplexity()
    for path in paths:
        counts = Perplexity()
        forward, backward = (first_sentences([path], max_tokens=max_tokens) for _ in range(2))
        states: LmStates | None = None
        stream = LmStream(forward, backward, vocabulary, batch_size=rows, unroll=unroll)
        for batch in tqdm(stream, desc=path.name, unit=" batches", disable=None, leave=False):
            output = model(batch.to(model.softmax.bias.device), states)
            states = output.states
            counts(output, batch.unknown)
            total(output, batch.unknown)
        yield str(path), counts.report()
    if len(paths) > 1:
        yield "all", total.report()


_BATCH_TOKENS, _SORTED_SENTENCES = 4096, 4096
Words = tuple[str, ...]


class SentenceScore(NamedTuple):
    """
    Natural log-probabilities of a sentence's N words and its end, by the exact softmax. A word outside the vocabulary
    counts as `<UNK>`, whose probability all such words share: sentences with unknown words score too high.
    """

    forward: list[float]  # N + 1: of each word given those before it, then of the sentence's end
    backward: list[float]  # N + 1: of each word given those after it, then of the sentence's beginning
    unknown: int  # words outside the vocabulary

    @property
    def totals(self) -> tuple[float, float, float]:
        """The sums: forward, backward, and the mean of both."""
        forward, backward = sum(self.forward), sum(self.backward)
        return forward, backward, (forward + backward) / 2


class PairAccuracy(NamedTuple):
    """Accuracies in percent on the pairs of a group; a pair is correct if the good sentence is more probable."""

    group: str
    pairs: int
    forward: float
    backward: float
    mean: float
    low: float  # the 95 % Wilson interval of `mean`
    high: float
    ties: int  # pairs whose mean scores are equal, which are counted as wrong
    unknown: float  # percent of the pairs with a word outside the vocabulary


@torch.no_grad()
def score_sentences(
    model: BiLanguageModel, vocabulary: WordVocabulary, sentences: Iterable[Words]
) -> Iterator[SentenceScore]:
    """The scores of sentences in order, each from zero states. The model is set to evaluation mode."""
    model.eval()
    device = model.softmax.bias.device
    waiting = iter(sentences)
    while block := list(islice(waiting, _SORTED_SENTENCES)):
        scores: dict[int, SentenceScore] = {}
        for indices in batches_by_length([len(words) + 1 for words in block], max_tokens=_BATCH_TOKENS):
            batch = sentence_batch([block[index] for index in indices], vocabulary)
            forward, backward, _ = model.token_nll(batch.to(device))  # [T, B]
            for index, ahead, back in zip(indices, (-forward.T).tolist(), (-backward.T).tolist(), strict=True):
                n = len(block[index])
                unknown = sum(vocabulary.id(word) == UNKNOWN for word in block[index])
                scores[index] = SentenceScore(ahead[: n + 1], [*back[:n][::-1], back[n]], unknown)
        yield from (scores[index] for index in range(len(block)))


def score_pairs(
    model: BiLanguageModel, vocabulary: WordVocabulary, file: str | Path, *, parse: Callable[[str], Words]
) -> list[PairAccuracy]:
    """
    Accuracy on a file of JSON lines with `good` and `bad` (or `sentence_good` and `sentence_bad`), by `UID` if there is
    one, then over `all`. Equal sentences are scored once, so that their scores are equal.

    Raises `InputError` with the line if it is no such object, or there is no line.
    """
    groups, pairs = zip(*_read_pairs(file, parse), strict=True)
    distinct = sorted({sentence for pair in pairs for sentence in pair}, key=len)
    scores = dict(zip(distinct, score_sentences(model, vocabulary, distinct), strict=True))
    scored = [(group, scores[good], scores[bad]) for group, (good, bad) in zip(groups, pairs, strict=True)]
    names = sorted(set(groups) - {""})
    by_group = [[one for one in scored if one[0] == name] for name in names]
    return [_accuracy(name, members) for name, members in zip([*names, "all"], [*by_group, scored], strict=True)]


def _accuracy(group: str, scored: list[tuple[str, SentenceScore, SentenceScore]]) -> PairAccuracy:
    totals, n = [(good.totals, bad.totals) for _, good, bad in scored], len(scored)
    right = [sum(good[way] > bad[way] for good, bad in totals) for way in range(3)]
    low, high = binomtest(right[2], n).proportion_ci(0.95, "wilson")
    ties = sum(good[2] == bad[2] for good, bad in totals)
    unknown = sum(good.unknown + bad.unknown > 0 for _, good, bad in scored)
    forward, backward, mean = (100 * count / n for count in right)
    return PairAccuracy(group, n, forward, backward, mean, 100 * low, 100 * high, ties, 100 * unknown / n)


def _read_pairs(file: str | Path, parse: Callable[[str], Words]) -> Iterator[tuple[str, tuple[Words, Words]]]:
    number = 0
    for number, line in open_text(file):
        try:
            fields = json.loads(line)
            good, bad = (fields[key] if key in fields else fields[f"sentence_{key}"] for key in ("good", "bad"))
            yield str(fields.get("UID", "")), (parse(good), parse(bad))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            problem = "expected a JSON object with two texts, `good` and `bad`"
            raise InputError(problem, file=file, line=number) from None
    if not number:
        raise InputError("expected pairs of sentences, got an empty file", file=file)
