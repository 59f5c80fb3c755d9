"""
Accuracy of entailment labels, overall and per class.

Source: the measure of Bowman et al. (2015). Departure: values are between 0 and 1.
"""

from collections import Counter
from collections.abc import Sequence

from allennlp.training.metrics import Metric

from elmo_tasks.training.distributed import all_gather_objects


@Metric.register("elmo_tasks_entailment_accuracy")
class EntailmentAccuracy(Metric):
    """
    Counts pairs of gold and predicted label.

    In distributed runs the counts of each call are summed over the processes, as AllenNLP's metrics do; every process
    must call it equally often.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def __call__(self, predictions: Sequence[str], gold_labels: Sequence[str]) -> None:
        """
        Adds a batch of B labels.

        # Raises

        `ValueError`
            If there are not as many predictions as gold labels; nothing is counted then.
        """
        if len(predictions) != len(gold_labels):
            raise ValueError(f"{len(predictions)} predictions for {len(gold_labels)} gold labels")
        for counts in all_gather_objects(Counter(zip(gold_labels, predictions, strict=True))):
            self._counts.update(counts)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        # Returns

        `dict[str, float]`
            `accuracy`, and for each class among the gold labels its share that was found, `recall-neutral` and so on;
            between 0 and 1, 0 over nothing.
        """
        gold: Counter[str] = Counter()
        for (label, _), count in self._counts.items():
            gold[label] += count
        right = {label: self._counts[label, label] for label in sorted(gold)}
        scores = {"accuracy": sum(right.values()) / max(1, gold.total())}
        scores |= {f"recall-{label}": found / gold[label] for label, found in right.items()}
        if reset:
            self.reset()
        return scores

    def report(self) -> dict[str, dict[str, int]]:
        """Gold label -> predicted label -> how often, as plain integers."""
        table: dict[str, dict[str, int]] = {}
        for (gold, predicted), count in sorted(self._counts.items()):
            table.setdefault(gold, {})[predicted] = count
        return table

    def reset(self) -> None:
        """Forgets all counts."""
        self._counts = Counter()
