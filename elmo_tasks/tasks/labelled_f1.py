"""Precision, recall and F1 of labelled spans, for named entities and semantic roles."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

from allennlp.training.metrics import Metric

from elmo_tasks.training.distributed import all_gather_objects

KINDS = ("correct", "predicted", "gold")


class Labelled(Protocol):
    """A hashable item with a label, correct if it equals a gold item."""

    @property
    def label(self) -> str:
        """Its label."""


class LabelledF1(Metric):
    """
    Micro-averaged scores, overall and per label. Subclasses decode tags, and may exclude labels from the overall score.

    In distributed runs the counts of each call are summed over the processes, which must call it equally often.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self.reset()

    @abstractmethod
    def spelled(self, tags: Sequence[str]) -> Iterable[Labelled]:
        """The items that T tags encode. Raises `ValueError` if a tag is invalid."""

    def counts_overall(self, label: str) -> bool:
        """Whether a label is part of the overall score; by default all are."""
        return True

    def __call__(self, predictions: Sequence[Sequence[str]], gold_labels: Sequence[Sequence[str]]) -> None:
        """
        Adds a batch of B predicted sequences of T tags each, legal or not, and B gold ones of the same lengths. Raises
        `ValueError` if numbers or lengths differ, or a tag is invalid; nothing is counted then.
        """
        batch: Counter[tuple[str, str]] = Counter()
        for predicted, gold in zip(predictions, gold_labels, strict=True):
            if len(predicted) != len(gold):
                raise ValueError(f"{len(predicted)} predicted tags for {len(gold)} gold ones")
            ours, theirs = set(self.spelled(predicted)), set(self.spelled(gold))
            for kind, found in zip(KINDS, (ours & theirs, ours, theirs), strict=True):
                batch.update((kind, one.label) for one in found)
        for counts in all_gather_objects(batch):
            self._counts.update(counts)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `precision`, `recall`, `f1`, and for each label `precision-PER` and so on; between 0 and 1, and 0 for
        empty denominators.
        """
        scores = _scores(**self._overall())
        for label, row in self.report()["labels"].items():
            scores |= {f"{name}-{label}": value for name, value in _scores(**row).items()}
        if reset:
            self.reset()
        return scores

    def report(self) -> dict[str, Any]:
        """
        Returns the numbers of `correct`, `predicted` and `gold` items, for `overall` and for each of the `labels`.
        """
        return {"overall": self._overall(), "labels": {label: self._row([label]) for label in self._labels()}}

    def reset(self) -> None:
        """Sets all counts to zero."""
        self._counts: Counter[tuple[str, str]] = Counter()

    def _overall(self) -> dict[str, int]:
        return self._row([label for label in self._labels() if self.counts_overall(label)])

    def _labels(self) -> list[str]:
        return sorted({label for _, label in self._counts})

    def _row(self, labels: Collection[str]) -> dict[str, int]:
        return {kind: sum(self._counts[kind, label] for label in labels) for kind in KINDS}


def _scores(correct: int, predicted: int, gold: int) -> dict[str, float]:
    return {
        "precision": correct / predicted if predicted else 0.0,
        "recall": correct / gold if gold else 0.0,
        "f1": 2 * correct / (predicted + gold) if correct else 0.0,
    }
