"""Accuracy over the labels, and, for five labels, over positive against negative (Socher et al. 2013)."""

from collections.abc import Sequence

import torch
from allennlp.training.metrics import CategoricalAccuracy, Metric
from torch import Tensor

from elmo_tasks.sst.labels import FIVE, TWO, two_way


@Metric.register("elmo_tasks_sentiment_accuracy")
class SentimentAccuracy(Metric):
    """
    AllenNLP's `CategoricalAccuracy` for labels in the order of their ids, with a second score for five labels: over the
    texts whose gold label is not neutral, which count as positive if 3 and 4 are together more probable than 0 and 1.
    """

    supports_distributed = True

    def __init__(self, labels: Sequence[str]) -> None:
        self._accuracy, self._two_way = CategoricalAccuracy(), CategoricalAccuracy()
        self._has_two_way = set(labels) == set(FIVE)
        self._sides = torch.tensor([[two_way(label) == side for side in TWO] for label in labels]).float()  # [K, 2]

    def __call__(self, probabilities: Tensor, gold_labels: Tensor) -> None:
        """Adds a batch: probabilities [B, K], and gold label ids [B]."""
        self._accuracy(probabilities, gold_labels)
        if self._has_two_way:
            sides = self._sides.to(probabilities)
            self._two_way(probabilities @ sides, sides[gold_labels].argmax(1), sides[gold_labels].any(1))

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """Returns `accuracy`, and for five labels `accuracy_two_way`, between 0 and 1; 0 if there are no texts."""
        scores = {"accuracy": self._accuracy.get_metric(reset)}
        return scores | ({"accuracy_two_way": self._two_way.get_metric(reset)} if self._has_two_way else {})

    def reset(self) -> None:
        """Clears all counts."""
        self._accuracy.reset()
        self._two_way.reset()
