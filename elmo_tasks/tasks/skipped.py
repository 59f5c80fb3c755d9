"""How much of a corpus file has no score, because its annotation is invalid."""

from collections.abc import Iterable, Mapping
from typing import Any

from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from overrides import overrides

SKIPPED = "skipped"
"""
The key of the metadata of the first instance of a file: how many documents or sentences
the reader left out.
"""


class Skipped(Metric):
    """
    Counts the documents or sentences that a reader left out and reports them among a
    model's metrics, since the scores do not cover the whole file.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self.reset()

    @overrides(check_signature=False)
    def __call__(self, metadata: Iterable[Mapping[str, Any]]) -> None:
        """Adds what the metadata of a batch's instances count."""
        for known in metadata:
            self._count += known.get(SKIPPED, 0)

    @overrides
    def get_metric(self, reset: bool = False) -> int:
        """
        The number so far. In a distributed run, it is the sum over all processes, and
        each of them must call this.
        """
        count = int(dist_reduce_sum(self._count))
        if reset:
            self.reset()
        return count

    @overrides
    def reset(self) -> None:
        self._count = 0


def counted_first(skipped: int, kept: int) -> list[int]:
    """
    The number that each of the `kept` instances counts: the first one all that are
    `skipped`, the others none.
    """
    counted = [0] * kept
    if kept:
        counted[0] = skipped
    return counted
