"""Both accuracies by hand."""

import pytest
import torch
from torch import Tensor

from elmo_tasks.sst.labels import FIVE, TWO
from elmo_tasks.sst.metric import SentimentAccuracy

ROWS = [
    ([0.1, 0.2, 0.0, 0.3, 0.4], "3"),  # 4 is most probable: wrong; positive: right
    ([0.3, 0.0, 0.1, 0.4, 0.2], "3"),  # right; right
    ([0.25, 0.2, 0.0, 0.4, 0.15], "0"),  # wrong; 0.45 against 0.55: wrong
    ([0.1, 0.3, 0.6, 0.0, 0.0], "1"),  # neutral: wrong; negative: right
    ([0.1, 0.1, 0.6, 0.1, 0.1], "2"),  # right; neutral gold labels do not count
]


def tensors(labels: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """The rows above, with ids in the order of `labels`."""
    columns = [FIVE.index(label) for label in labels]
    probabilities = torch.tensor([row for row, _ in ROWS])[:, columns]  # [B, K]
    return probabilities, torch.tensor([labels.index(gold) for _, gold in ROWS])


@pytest.mark.parametrize("labels", [FIVE, ("3", "0", "2", "4", "1")])
def test_five_labels_over_batches(labels: tuple[str, ...]) -> None:
    probabilities, gold = tensors(labels)
    metric = SentimentAccuracy(labels)
    for rows in (slice(0, 1), slice(1, 4), slice(4, 5)):
        metric(probabilities[rows], gold[rows])
    assert metric.get_metric(reset=True) == {"accuracy": 2 / 5, "accuracy_two_way": 3 / 4}
    assert metric.get_metric() == {"accuracy": 0.0, "accuracy_two_way": 0.0}


def test_two_labels_have_one_score() -> None:
    metric = SentimentAccuracy(TWO)
    metric(torch.tensor([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9]]), torch.tensor([0, 1, 1]))
    assert metric.get_metric() == {"accuracy": 2 / 3}
