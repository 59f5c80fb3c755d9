"""Log-probabilities of sentences, and accuracy on minimal pairs such as BLiMP's (Warstadt et al. 2020)."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch

from elmo_tasks.elmo.batches import batches_by_length
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text_files import open_text
from elmo_tasks.pretraining.language_model import BiLanguageModel
from elmo_tasks.pretraining.stream import sentence_batch
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary

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
    totals = [(good.totals, bad.totals) for _, good, bad in scored]
    forward, backward, mean = (
        100 * sum(good[way] > bad[way] for good, bad in totals) / len(totals) for way in range(3)
    )
    ties = sum(good[2] == bad[2] for good, bad in totals)
    unknown = sum(good.unknown + bad.unknown > 0 for _, good, bad in scored)
    n, (low, high) = len(scored), wilson_interval(mean / 100, len(scored))
    return PairAccuracy(group, n, forward, backward, mean, 100 * low, 100 * high, ties, 100 * unknown / n)


def wilson_interval(share: float, n: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a share of `n`."""
    z = 1.96
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return middle - half, middle + half


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
