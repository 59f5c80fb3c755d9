"""Precision, recall and F1 of labelled spans, for named entities and semantic roles."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from allennlp.training.metrics import Metric

from elmo_tasks.training.distributed import all_gather_objects

KINDS = ("correct", "predicted", "gold")


class LabelledF1(Metric):
    """
    Micro-averaged scores, overall and per label. Subclasses decode tags.

    In distributed runs the counts of each call are summed over the processes, which must call it equally often.
    """

    supports_distributed = True

    excluded: str | None = None
    """The label that is not part of the overall score."""

    def __init__(self) -> None:
        self.reset()

    @abstractmethod
    def spelled(self, tags: Sequence[str]) -> Iterable[Any]:
        """
        The items that T tags encode, hashable and with a `label`; correct is one that equals a gold item. Raises
        `ValueError` if a tag is invalid.
        """

    def __call__(
        self, predictions: Sequence[Sequence[str]], gold_labels: Sequence[Sequence[str]]
    ) -> None:
        """
        Adds a batch of B predicted sequences of T tags each, legal or not, and B gold ones of the same lengths. Raises
        `ValueError` if their numbers differ, or a tag is invalid; nothing is counted then.
        """
        batch: Counter[tuple[str, str]] = Counter()
        for predicted, gold in zip(predictions, gold_labels, strict=True):
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
        report = self.report()
        scores = _scores(**report["overall"])
        for label, row in report["labels"].items():
            if not label:  # spans without a type, which have the overall scores
                continue
            scores |= {
                f"{name}-{label}": value for name, value in _scores(**row).items()
            }
        if reset:
            self.reset()
        return scores

    def report(self) -> dict[str, Any]:
        """The numbers of `correct`, `predicted` and `gold` items, `overall` and for each of the `labels`."""
        labels = sorted({label for _, label in self._counts})
        rows = {
            label: {kind: self._counts[kind, label] for kind in KINDS}
            for label in labels
        }
        counted = [row for label, row in rows.items() if label != self.excluded]
        return {
            "overall": {kind: sum(row[kind] for row in counted) for kind in KINDS},
            "labels": rows,
        }

    def reset(self) -> None:
        """Sets all counts to zero."""
        self._counts: Counter[tuple[str, str]] = Counter()


def _scores(correct: int, predicted: int, gold: int) -> dict[str, float]:
    return {
        "precision": correct / predicted if predicted else 0.0,
        "recall": correct / gold if gold else 0.0,
        "f1": 2 * correct / (predicted + gold) if correct else 0.0,
    }
