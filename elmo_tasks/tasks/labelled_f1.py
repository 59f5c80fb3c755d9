"""Precision, recall and F1 of labelled spans, for named entities and semantic roles."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from allennlp.training.metrics import Metric
from overrides import overrides

from elmo_tasks.training.distributed import all_gather_objects

KINDS = ("correct", "predicted", "gold")


class LabelledF1(Metric):
    """
    Micro-averaged scores, overall and per label. Subclasses decode tags.

    In distributed runs the counts of each call are summed over the processes, which
    must call it equally often.
    """

    supports_distributed = True

    excluded: str | None = None
    """The label that is not part of the overall score."""

    def __init__(self) -> None:
        self.reset()

    @abstractmethod
    def spelled(self, tags: Sequence[str]) -> Iterable[Any]:
        """
        The items that T tags encode, hashable and with a `label`; correct is one that
        equals a gold item. Raises `ValueError` if a tag is invalid.
        """

    @overrides(check_signature=False)
    def __call__(
        self, predictions: Sequence[Sequence[str]], gold_labels: Sequence[Sequence[str]]
    ) -> None:
        """
        Adds a batch of B predicted sequences of T tags each, legal or not, and B gold
        ones of the same lengths. Raises `ValueError` if their numbers differ, or a tag
        is invalid; nothing is counted then.
        """
        batch: Counter[tuple[str, str]] = Counter()
        for predicted, gold in zip(predictions, gold_labels, strict=True):
            ours = set(self.spelled(predicted))
            theirs = set(self.spelled(gold))
            for one in ours & theirs:
                batch["correct", one.label] += 1
            for one in ours:
                batch["predicted", one.label] += 1
            for one in theirs:
                batch["gold", one.label] += 1
        for counts in all_gather_objects(batch):
            self._counts.update(counts)

    @overrides
    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `precision`, `recall`, `f1`, and for each label `precision-PER` and so
        on; between 0 and 1, and 0 for empty denominators.
        """
        report = self.report()
        scores = _scores(**report["overall"])
        for label, row in report["labels"].items():
            if not label:  # spans without a type, which have the overall scores
                continue
            for name, value in _scores(**row).items():
                scores[f"{name}-{label}"] = value
        if reset:
            self.reset()
        return scores

    def report(self) -> dict[str, Any]:
        """
        The numbers of `correct`, `predicted` and `gold` items, `overall` and for each
        of the `labels`.
        """
        overall = dict.fromkeys(KINDS, 0)
        rows = {}
        for label in sorted({label for _, label in self._counts}):
            row = {kind: self._counts[kind, label] for kind in KINDS}
            rows[label] = row
            if label == self.excluded:
                continue
            for kind in KINDS:
                overall[kind] += row[kind]
        return {"overall": overall, "labels": rows}

    @overrides
    def reset(self) -> None:
        """Sets all counts to zero."""
        self._counts: Counter[tuple[str, str]] = Counter()


def _scores(correct: int, predicted: int, gold: int) -> dict[str, float]:
    # A ratio over 0 is 0: what is correct is then 0, too.
    return {
        "precision": correct / max(1, predicted),
        "recall": correct / max(1, gold),
        "f1": 2 * correct / max(1, predicted + gold),
    }
