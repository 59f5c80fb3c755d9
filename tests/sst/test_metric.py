"""Both accuracies against counts by hand and by loops, whatever the order of the labels."""

from pathlib import Path

import pytest
import torch
from allennlp.training.metrics import Metric
from torch import Tensor

from elmo_tasks.sst.labels import FIVE, TWO
from elmo_tasks.sst.metric import SentimentAccuracy
from tests.processes import last_line, other_process

ROWS = [
    ([0.1, 0.2, 0.0, 0.3, 0.4], "3"),  # 4 is most probable: wrong; positive in sum: right
    ([0.3, 0.0, 0.1, 0.4, 0.2], "3"),  # right; right
    ([0.25, 0.2, 0.0, 0.4, 0.15], "0"),  # wrong; 0.45 against 0.55: wrong
    ([0.1, 0.3, 0.6, 0.0, 0.0], "1"),  # neutral: wrong; right in sum
    ([0.1, 0.1, 0.6, 0.1, 0.1], "2"),  # right; neutral gold does not count
]


def tensors(labels: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """The rows above, with ids in the order of `labels`."""
    columns = [FIVE.index(label) for label in labels]
    probabilities = torch.tensor([row for row, _ in ROWS])[:, columns]  # [B, K]
    return probabilities, torch.tensor([labels.index(gold) for _, gold in ROWS])


@pytest.mark.parametrize("labels", [FIVE, ("3", "0", "2", "4", "1")])
def test_five_labels_by_hand_in_any_order(labels: tuple[str, ...]) -> None:
    metric = SentimentAccuracy(labels)
    metric(*tensors(labels))
    assert metric.get_metric() == {"accuracy": 2 / 5, "accuracy_two_way": 3 / 4}


def test_counts_over_batches_as_over_one() -> None:
    probabilities, gold = tensors(FIVE)
    metric = SentimentAccuracy(FIVE)
    for rows in (slice(0, 1), slice(1, 4), slice(4, 5)):
        metric(probabilities[rows], gold[rows])
    assert metric.get_metric(reset=True) == {"accuracy": 2 / 5, "accuracy_two_way": 3 / 4}
    assert metric.get_metric() == {"accuracy": 0.0, "accuracy_two_way": 0.0}


def test_two_labels_have_one_score() -> None:
    metric = SentimentAccuracy(TWO)
    metric(torch.tensor([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9]]), torch.tensor([0, 1, 1]))
    assert metric.get_metric() == {"accuracy": 2 / 3}


def test_against_loops() -> None:
    generator = torch.Generator().manual_seed(4)
    probabilities = torch.rand(300, 5, generator=generator).softmax(1)
    gold = torch.randint(5, (300,), generator=generator)
    metric, right, two_way = SentimentAccuracy(FIVE), 0, []
    metric(probabilities, gold)
    for row, label in zip(probabilities.tolist(), gold.tolist(), strict=True):
        right += row.index(max(row)) == label
        if label != 2:
            two_way.append((row[3] + row[4] > row[0] + row[1]) == (label > 2))
    assert metric.get_metric() == {"accuracy": right / 300, "accuracy_two_way": sum(two_way) / len(two_way)}


def test_refused_calls_count_nothing() -> None:
    metric = SentimentAccuracy(FIVE)
    with pytest.raises(ValueError, match=r"shape \[3, 5\] were wanted, found \[2, 5\]"):
        metric(torch.rand(2, 5), torch.tensor([0, 1, 2]))
    with pytest.raises(ValueError, match=r"shape \[2, 5\] were wanted, found \[2, 3\]"):
        metric(torch.rand(2, 3), torch.tensor([0, 1]))
    assert metric.get_metric() == {"accuracy": 0.0, "accuracy_two_way": 0.0}


def test_registered_name() -> None:
    assert Metric.by_name("elmo_tasks_sentiment_accuracy") is SentimentAccuracy


def test_processes_count_together(tmp_path: Path) -> None:
    other = """
from elmo_tasks.sst.metric import SentimentAccuracy
metric = SentimentAccuracy(("0", "1", "2", "3", "4"))
metric(torch.eye(5)[[2, 2, 4]], torch.tensor([2, 2, 0]))
print(metric.get_metric())
"""
    with other_process(tmp_path, other) as process:
        metric = SentimentAccuracy(FIVE)
        metric(torch.eye(5)[[4]], torch.tensor([4]))
        expected = {"accuracy": 3 / 4, "accuracy_two_way": 1 / 2}
        assert metric.get_metric() == expected
        assert last_line(process) == str(expected)
