"""Precision, recall and F1 of labelled spans: what the scorers of named entities and of semantic roles share."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from allennlp.training.metrics import Metric

from elmo_tasks.training.distributed import all_gather_objects

Row = dict[str, int]


class Labelled(Protocol):
    """Something that is right only as a whole, and equal to what is the same."""

    @property
    def label(self) -> str:
        """What it is called."""


class LabelledF1(Metric):
    """
    Micro-averaged scores, overall and per label; a child says what a sequence of tags spells, and may leave labels out
    of the overall score.

    In distributed runs the counts of each call are summed over the processes, as AllenNLP's metrics do; every process
    must call it equally often.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    @abstractmethod
    def spelled(self, tags: Sequence[str]) -> Iterable[Labelled]:
        """
        What T tags spell.

        # Raises

        `ValueError`
            If a tag cannot be.
        """

    def counts_overall(self, label: str) -> bool:
        """Whether a label counts in the overall score; by default all do."""
        return True

    def __call__(self, predictions: Sequence[Sequence[str]], gold_labels: Sequence[Sequence[str]]) -> None:
        """
        Adds a batch of B sequences.

        # Parameters

        predictions : `Sequence[Sequence[str]]`
            B sequences of T tags each, legal or not.
        gold_labels : `Sequence[Sequence[str]]`
            As many, as long.

        # Raises

        `ValueError`
            If numbers or lengths differ, or if a tag cannot be; nothing is counted then.
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
        # Returns

        `dict[str, float]`
            `precision`, `recall`, `f1`, and for each label seen in either side `precision-PER` and so on; between 0
            and 1; a ratio over nothing is 0.
        """
        scores = _scores(self._overall())
        for label, row in sorted(self._rows.items()):
            scores |= {f"{name}-{label}": value for name, value in _scores(row).items()}
        if reset:
            self.reset()
        return scores

    def report(self) -> dict[str, Any]:
        """
        # Returns

        `dict[str, Any]`
            How many were `correct`, `predicted` and `gold`, as plain integers: under `overall`, and for each label seen
            under `labels`.
        """
        labels = {label: dict(row) for label, row in sorted(self._rows.items())}
        return {"overall": self._overall(), "labels": labels}

    def reset(self) -> None:
        """Forgets all counts."""
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
