"""Accuracy over the labels, and, for five of them, over positive against negative (Socher et al. 2013)."""

from collections.abc import Sequence

import torch
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Metric
from torch import Tensor

from elmo_tasks.sst.labels import FIVE, TWO, two_way


@Metric.register("elmo_tasks_sentiment_accuracy")
class SentimentAccuracy(Metric):
    """
    Counts over the whole corpus. In distributed runs those of each call are summed over the processes, as AllenNLP's
    metrics do; every process must call it equally often.

    # Parameters

    labels : `Sequence[str]`
        K labels in the order of their ids. Five labels, whatever their order, have a second score, over the texts whose
        gold label is not neutral: they are called positive if 3 and 4 are together more probable than 0 and 1.
    """

    supports_distributed = True

    def __init__(self, labels: Sequence[str]) -> None:
        self._scores = ("accuracy", "accuracy_two_way") if set(labels) == set(FIVE) else ("accuracy",)
        self._sides = torch.tensor([_side(label) for label in labels], dtype=torch.float)  # [K]
        self.reset()

    def __call__(self, probabilities: Tensor, gold_labels: Tensor) -> None:
        """
        Adds a batch of B texts.

        # Parameters

        probabilities : `Tensor`, shape [B, K]
        gold_labels : `Tensor`, shape [B]
            Label ids.

        # Raises

        `ValueError`
            If the shapes do not fit; nothing is counted then.
        """
        probabilities, gold = self.detach_tensors(probabilities, gold_labels)
        wanted = (*gold.shape, len(self._sides))
        if gold.dim() != 1 or tuple(probabilities.shape) != wanted:
            raise ValueError(f"probabilities of shape {list(wanted)} were wanted, found {list(probabilities.shape)}")
        self._add("accuracy", probabilities.argmax(1) == gold)
        if "accuracy_two_way" in self._scores:
            sides = self._sides.to(probabilities)  # [K]
            positive, gold_sides = (probabilities * sides).sum(1) > 0, sides[gold]  # [B]
            decided = gold_sides != 0
            self._add("accuracy_two_way", positive[decided] == (gold_sides[decided] > 0))

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        # Returns

        `dict[str, float]`
            `accuracy`, and for five labels `accuracy_two_way`, between 0 and 1; 0 where nothing was counted.
        """
        scores = {name: self._right[name] / max(1, self._all[name]) for name in self._scores}
        if reset:
            self.reset()
        return scores

    def reset(self) -> None:
        """Forgets all counts."""
        self._right = dict.fromkeys(self._scores, 0)
        self._all = dict.fromkeys(self._scores, 0)

    def _add(self, name: str, right: Tensor) -> None:
        self._right[name] += int(dist_reduce_sum(int(right.sum())))
        self._all[name] += int(dist_reduce_sum(len(right)))


def _side(label: str) -> int:
    """1 for the positive labels, -1 for the negative ones, 0 for neutral."""
    return 0 if two_way(label) is None else (1 if two_way(label) == TWO[1] else -1)
