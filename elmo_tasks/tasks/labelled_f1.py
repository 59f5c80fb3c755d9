"""Precision, recall and F1 of labelled spans, for named entities and semantic roles."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from allennlp.training.metrics import Metric

from elmo_tasks.training.distributed import all_gather_objects

Row = dict[str, int]


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
        self._rows: dict[str, Row] = {}

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
        if len(predictions) != len(gold_labels):
            raise ValueError(f"{len(predictions)} predictions for {len(gold_labels)} gold sequences")
        batch: dict[str, Row] = {}
        for predicted, gold in zip(predictions, gold_labels, strict=True):
            self._count(batch, predicted, gold)
        for rows in all_gather_objects(batch):
            for label, row in rows.items():
                self._rows[label] = _sum([self._rows.get(label, _sum([])), row])

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `precision`, `recall`, `f1`, and for each label `precision-PER` and so on; between 0 and 1, and 0 for
        empty denominators.
        """
        scores = _scores(self._overall())
        for label, row in sorted(self._rows.items()):
            scores |= {f"{name}-{label}": value for name, value in _scores(row).items()}
        if reset:
            self.reset()
        return scores

    def report(self) -> dict[str, Any]:
        """
        Returns the numbers of `correct`, `predicted` and `gold` items, for `overall` and for each of the `labels`.
        """
        return {"overall": self._overall(), "labels": {label: dict(self._rows[label]) for label in sorted(self._rows)}}

    def reset(self) -> None:
        """Sets all counts to zero."""
        self._rows = {}

    def _overall(self) -> Row:
        return _sum(row for label, row in self._rows.items() if self.counts_overall(label))

    def _count(self, rows: dict[str, Row], predicted: Sequence[str], gold: Sequence[str]) -> None:
        if len(predicted) != len(gold):
            raise ValueError(f"{len(predicted)} predicted tags for {len(gold)} gold ones")
        ours, theirs = set(self.spelled(predicted)), set(self.spelled(gold))
        for name, found in (("correct", ours & theirs), ("predicted", ours), ("gold", theirs)):
            for one in found:
                rows.setdefault(one.label, _sum([]))[name] += 1


def _sum(rows: Iterable[Row]) -> Row:
    listed = list(rows)
    return {name: sum(row[name] for row in listed) for name in ("correct", "predicted", "gold")}


def _scores(row: Row) -> dict[str, float]:
    correct, predicted, gold = row["correct"], row["predicted"], row["gold"]
    return {
        "precision": correct / predicted if predicted else 0.0,
        "recall": correct / gold if gold else 0.0,
        "f1": 2 * correct / (predicted + gold) if correct else 0.0,
    }
