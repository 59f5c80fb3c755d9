"""Exact perplexity (paper, section 3.1)."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from pydantic import SkipValidation

from elmo_tasks.bilm.bilm import DIRECTIONS
from elmo_tasks.errors import InputError
from elmo_tasks.formats.text.marks import Folding, Marks
from elmo_tasks.formats.text.raw_text import SplitAtBlanks
from elmo_tasks.option_values import PERPLEXITY_ROWS, RESET, StartState
from elmo_tasks.pretraining.language_model import BiLanguageModel, LmOutput
from elmo_tasks.pretraining.scores.sentence_losses import (
    CARRIED_WINDOW,
    sentence_losses,
    window_losses,
)
from elmo_tasks.pretraining.text.sentences import check_text, read_sentences
from elmo_tasks.pretraining.text.stream import LmStream
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary
from elmo_tasks.settings import Size, checked

UNROLL = 20
"""Tokens of a row in a batch."""

_LARGEST_EXPONENT = 709.0
"""Beyond, `exp` overflows a float."""


class PerplexityReport(NamedTuple):
    """
    The perplexity of each direction, `exp(m)` of the mean negative log-likelihood m of
    its targets, and the means of both.
    """

    forward: float
    backward: float
    geometric: float  # `exp((m_forward + m_backward) / 2)`, which bilm-tf prints
    arithmetic: float  # `(forward + backward) / 2`; the paper mentions an average
    unknown_share: float  # share of `<UNK>` among the targets of both directions
    tokens: int  # number of targets of both directions, sentence ends included


class Perplexity:
    """Token-weighted perplexity over batches."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._unknown = 0
        self._nll = [0.0, 0.0]  # of each direction
        self._targets = [0, 0]  # of each direction

    def __call__(self, output: LmOutput, unknown: int) -> None:
        """
        Count a batch, of whose targets `unknown` are `<UNK>`. Raises `InputError` if a
        negative log-likelihood is not finite; the batch is then not counted.
        """
        # In one tensor: reading its values waits for the device once.
        numbers = torch.cat([output.nll.double(), output.counts]).tolist()
        self.add(numbers[:2], numbers[2:], unknown)

    def add(self, nll: Sequence[float], targets: Sequence[float], unknown: int) -> None:
        """
        Count the sums of the negative log-likelihoods of both directions, in nats, and
        the numbers of their targets; the rest is as in a call.
        """
        for name, value in zip(DIRECTIONS, nll, strict=True):
            if not math.isfinite(value):
                raise InputError(
                    f"expected a finite {name} negative log-likelihood, got {value}",
                    hint="the training diverged or the weights are damaged: "
                    "lower the learning rate",
                )
        self._unknown += unknown
        for direction in range(len(DIRECTIONS)):
            self._nll[direction] += nll[direction]
            self._targets[direction] += int(targets[direction])

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        `perplexity` (the geometric mean), that of each direction, and `unknown`; empty
        before the first token.
        """
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
        """
        The perplexities so far. At least one token must have been counted in each
        direction.
        """
        forward_mean = self._nll[0] / self._targets[0]
        backward_mean = self._nll[1] / self._targets[1]
        forward = _exp(forward_mean)
        backward = _exp(backward_mean)
        tokens = sum(self._targets)
        return PerplexityReport(
            forward=forward,
            backward=backward,
            geometric=_exp((forward_mean + backward_mean) / 2),
            arithmetic=(forward + backward) / 2,
            unknown_share=self._unknown / tokens,
            tokens=tokens,
        )


def _exp(value: float) -> float:
    return math.inf if value >= _LARGEST_EXPONENT else math.exp(value)


def first_sentences(
    files: Iterable[str | Path],
    *,
    max_tokens: int | None = None,
    split: Callable[[str], list[str]] = str.split,
) -> Iterator[list[str]]:
    """
    The sentences of the files in order, as `split` splits their lines. `max_tokens`
    limits the predictions: each file has an equal share, which is filled with whole
    sentences from its start. Raises `InputError` as `read_sentences` does.
    """
    paths = list(files)
    share = math.inf
    if max_tokens is not None:
        share = max(1, max_tokens // len(paths))
    for path in paths:
        predictions = 0
        for sentence in read_sentences([path], split=split):
            yield sentence
            predictions += len(sentence) + 1
            if predictions >= share:
                break


@torch.no_grad()
@checked
def perplexity(
    model: BiLanguageModel,
    vocabulary: WordVocabulary,
    files: SkipValidation[Iterable[str | Path]],
    *,
    state: StartState = "carry",
    rows: Size = PERPLEXITY_ROWS,
    unroll: Size | None = None,
    max_tokens: Size | None = None,
    marks: Marks | None = None,
    progress: Callable[[], object] | None = None,
) -> Iterator[tuple[str, PerplexityReport]]:
    """
    Perplexity by file, then over all files (`all`) if there are several. A file stops
    at the first sentence end after `max_tokens` predictions per direction.

    With `state` `carry`, the `rows` of running text start from zero states at the
    beginning of a file, and carry their states from sentence to sentence. They are read
    in windows of `unroll` tokens, by default 20, or 640 of a single row, where their
    number changes nothing but rounding. With `reset`, each sentence starts from zero
    states, and both numbers do not matter.

    Typographic `marks`, by default those that the vocabulary lacks, are read as plain
    ones; a warning says so at the end.

    The model is set to evaluation mode. `progress` is called after each batch, with
    `reset` after each sentence. Raises `InputError` if a file is unreadable or has no
    sentence.
    """
    model.eval()
    paths = [Path(file) for file in files]
    check_text(paths)
    total = Perplexity()
    folding = Folding(vocabulary.marks if marks is None else marks)
    with folding.reading():
        for path in paths:
            counts = Perplexity()
            for sums in _sums_of(
                model,
                vocabulary,
                path,
                folding,
                state=state,
                rows=rows,
                unroll=unroll,
                max_tokens=max_tokens,
            ):
                counts.add(*sums)
                total.add(*sums)
                if progress is not None:
                    progress()
            yield str(path), counts.report()
    if len(paths) > 1:
        yield "all", total.report()


class _Sums(NamedTuple):
    """What `Perplexity.add` counts."""

    nll: Sequence[float]
    targets: Sequence[int]
    unknown: int


def _sums_of(
    model: BiLanguageModel,
    vocabulary: WordVocabulary,
    path: Path,
    folding: Folding,
    *,
    state: StartState,
    rows: int,
    unroll: int | None,
    max_tokens: int | None,
) -> Iterator[_Sums]:
    """The sums of each batch of a file, or of each sentence."""
    look = SplitAtBlanks("bilm prepare --language splits raw text")

    def read(folding: Folding) -> Iterator[list[str]]:
        """As `WordSurprisal` does: a word without visible characters is none."""
        return first_sentences(
            [path],
            max_tokens=max_tokens,
            split=lambda line: folding(look(folding.plain_text(line))),
        )

    sentences = read(folding)
    if state == RESET:
        for words, losses in sentence_losses(model, vocabulary, sentences):
            unknown = [word for word in words if vocabulary.id(word) == UNKNOWN]
            targets = [losses.shape[1]] * 2
            yield _Sums(losses.sum(1).tolist(), targets, 2 * len(unknown))
        return
    if unroll is None:
        unroll = CARRIED_WINDOW if rows == 1 else UNROLL
    again = read(Folding(folding.marks))  # which says nothing again
    stream = LmStream(sentences, again, vocabulary, batch_size=rows, unroll=unroll)
    for losses, batch in window_losses(model, stream):
        targets = batch.mask.sum((1, 2)).tolist()
        yield _Sums(losses.sum((1, 2)).tolist(), targets, batch.unknown)
