"""Perplexity over batches: sums of both directions first, one division at the end (paper, section 3.1)."""

import math
from typing import NamedTuple

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.language_model import DIRECTIONS, LmOutput
from elmo_tasks.pretraining.stream import LmBatch


class PerplexityReport(NamedTuple):
    """
    # Parameters

    forward, backward : `float`
        `exp` of a direction's mean negative log-likelihood over its tokens.
    geometric, arithmetic : `float`
        The two means of these: bilm-tf prints the former, the paper speaks of an average.
    unknown_share : `float`
        Share of `<UNK>` among the targets of both directions.
    tokens : `int`
        Targets of both directions, sentence ends included.
    """

    forward: float
    backward: float
    geometric: float
    arithmetic: float
    unknown_share: float
    tokens: int


class Perplexity:
    """Token-weighted perplexity over batches: sums first, one division at the end."""

    def __init__(self) -> None:
        self._nll = dict.fromkeys(DIRECTIONS, 0.0)
        self._count = dict.fromkeys(DIRECTIONS, 0)
        self._unknown = 0

    def add(self, output: LmOutput, batch: LmBatch) -> None:
        """
        Count one batch.

        # Raises

        `InputError` where a negative log-likelihood is not finite; the batch is then not counted.
        """
        sums = {name: float(getattr(output, f"{name}_nll")) for name in DIRECTIONS}
        for name, value in sums.items():
            if not math.isfinite(value):
                raise InputError(
                    f"the {name} negative log-likelihood of a batch is {value}, a finite number was wanted",
                    hint="the training diverged, or the weights are damaged: lower the learning rate or go back",
                )
        for name in DIRECTIONS:
            self._nll[name] += sums[name]
            self._count[name] += int(getattr(output, f"{name}_count"))
        self._unknown += batch.unknown

    def report(self) -> PerplexityReport:
        """
        # Raises

        `InputError` where a direction has not counted a single token.
        """
        for name in DIRECTIONS:
            if not self._count[name]:
                raise InputError(f"no {name} token was counted, so there is no perplexity", hint="is the text empty?")
        means = [self._nll[name] / self._count[name] for name in DIRECTIONS]
        forward, backward = (_exp(mean) for mean in means)
        tokens = sum(self._count.values())
        return PerplexityReport(
            forward, backward, _exp(sum(means) / 2), (forward + backward) / 2, self._unknown / tokens, tokens
        )


def _exp(value: float) -> float:
    """`exp`, infinite where a float cannot hold it."""
    return math.exp(value) if value < 709.0 else math.inf
