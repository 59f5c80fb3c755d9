"""Exact perplexity (paper, section 3.1)."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from allennlp.training.metrics import Metric
from tqdm import tqdm

from elmo_tasks.bilm.bilm import DIRECTIONS, States
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.language_model import BiLanguageModel, LmOutput
from elmo_tasks.pretraining.sentences import check_text, read_sentences
from elmo_tasks.pretraining.stream import LmStream
from elmo_tasks.pretraining.vocabulary import WordVocabulary
from elmo_tasks.settings import Size, checked

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


class Perplexity(Metric):
    """Token-weighted perplexity over batches."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._unknown = 0
        self._nll, self._targets = [0.0, 0.0], [0, 0]  # of both directions

    def __call__(self, output: LmOutput, unknown: int) -> None:
        """
        Count a batch, of whose targets `unknown` are `<UNK>`. Raises `InputError` if a negative log-likelihood is not
        finite; the batch is then not counted.
        """
        numbers = torch.cat([output.nll.double(), output.counts]).tolist()
        nll, targets = numbers[:2], [int(count) for count in numbers[2:]]
        for name, value in zip(DIRECTIONS, nll, strict=True):
            if not math.isfinite(value):
                raise InputError(
                    f"expected a finite {name} negative log-likelihood, got {value}",
                    hint="the training diverged or the weights are damaged: lower the learning rate",
                )
        self._unknown += unknown
        self._nll = [total + own for total, own in zip(self._nll, nll, strict=True)]
        self._targets = [
            total + own for total, own in zip(self._targets, targets, strict=True)
        ]

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """`perplexity` (the geometric mean), that of each direction, and `unknown`; empty before the first token."""
        if not all(self._targets):
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
        """The perplexities of what was counted, at least one token in each direction."""
        means = [
            nll / targets for nll, targets in zip(self._nll, self._targets, strict=True)
        ]
        (forward, backward), geometric = map(_exp, means), _exp(sum(means) / 2)
        tokens = sum(self._targets)
        return PerplexityReport(
            forward,
            backward,
            geometric,
            (forward + backward) / 2,
            self._unknown / tokens,
            tokens,
        )


def _exp(value: float) -> float:
    return math.inf if value >= 709.0 else math.exp(value)  # beyond, a float overflows


def first_sentences(
    files: Iterable[str | Path], *, max_tokens: int | None = None
) -> Iterator[list[str]]:
    """
    The sentences of the files in order; with `max_tokens`, whole sentences from the start of each file until its share
    of so many predictions is reached. Raises `InputError` as `read_sentences` does.
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
@checked
def perplexity(
    model: BiLanguageModel,
    vocabulary: WordVocabulary,
    files: Iterable[str | Path],
    *,
    rows: Size = ROWS,
    unroll: Size = UNROLL,
    max_tokens: Size | None = None,
) -> Iterator[tuple[str, PerplexityReport]]:
    """
    Perplexity by file, then over all files (`all`) if there are several. Each file starts from zero states, and stops
    at the first sentence end after `max_tokens` predictions per direction. The model is set to evaluation mode. Raises
    `InputError` if a file is unreadable or has no sentence.
    """
    model.eval()
    paths = [Path(file) for file in files]
    check_text(paths)
    total = Perplexity()
    for path in paths:
        counts = Perplexity()
        forward, backward = (
            first_sentences([path], max_tokens=max_tokens) for _ in range(2)
        )
        states: States = {}
        stream = LmStream(forward, backward, vocabulary, batch_size=rows, unroll=unroll)
        for batch in tqdm(
            stream, desc=path.name, unit=" batches", disable=None, leave=False
        ):
            output = model(batch.to(model.softmax.bias.device), states)
            states = output.states
            counts(output, batch.unknown)
            total(output, batch.unknown)
        yield str(path), counts.report()
    if len(paths) > 1:
        yield "all", total.report()
