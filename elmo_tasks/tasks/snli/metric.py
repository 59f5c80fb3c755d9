"""Accuracy of entailment labels (Bowman et al., 2015) and recall per class."""

from collections import Counter
from collections.abc import Sequence

from allennlp.training.metrics import Metric

from elmo_tasks.training.distributed import all_gather_objects


@Metric.register("elmo_tasks_entailment_accuracy")
class EntailmentAccuracy(Metric):
    """
    Counts pairs of gold and predicted label. In distributed runs the counts of all processes are summed; each process
    must call it equally often.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def __call__(self, predictions: Sequence[str], gold_labels: Sequence[str]) -> None:
        """Adds a batch of B labels. Raises `ValueError` if the numbers of predictions and gold labels differ."""
        for counts in all_gather_objects(Counter(zip(gold_labels, predictions, strict=True))):
            self._counts.update(counts)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """`accuracy`, and the recall of each class among the gold labels (`recall-neutral`); between 0 and 1."""
        gold: Counter[str] = Counter()
        for (label, _), count in self._counts.items():
            gold[label] += count
        right = {label: self._counts[label, label] for label in sorted(gold)}
        scores = {"accuracy": sum(right.values()) / max(1, gold.total())}
        scores |= {f"recall-{label}": found / gold[label] for label, found in right.items()}
        if reset:
            self.reset()
        return scores

    @property
    def total(self) -> int:
        return self._counts.total()

    def reset(self) -> None:
        self._counts = Counter()
