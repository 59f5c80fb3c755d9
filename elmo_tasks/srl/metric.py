"""
Precision, recall and F1 of arguments as srl-eval.pl counts them: an argument is right if its label and all its pieces
are.

Source: the scorer of the CoNLL-2004 and 2005 shared tasks (Carreras and Màrquez), which CoNLL-2012 papers use too.
Departure: values are between 0 and 1.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch.distributed
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric

from elmo_tasks.srl.arguments import VERB, arguments_from_tags

Row = dict[str, int]


@Metric.register("elmo_tasks_srl_f1")
class SrlF1(Metric):
    """
    Micro-averaged argument scores, overall and per label. The predicate itself (V, and C-V with it) has a row of its
    own and does not count overall.

    In distributed runs the counts of each call are summed over the processes, as AllenNLP's metrics do; every process
    must call it equally often.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def __call__(self, predictions: Sequence[Sequence[str]], gold_labels: Sequence[Sequence[str]]) -> None:
        """
        Adds a batch of B propositions.

        # Parameters

        predictions : `Sequence[Sequence[str]]`
            B sequences of T tags in BIO each, legal or not.
        gold_labels : `Sequence[Sequence[str]]`
            As many, as long.

        # Raises

        `ValueError`
            If numbers or lengths differ, or if a tag cannot be; nothing is counted then.
        """
        if len(predictions) != len(gold_labels):
            raise ValueError(f"{len(predictions)} predictions for {len(gold_labels)} propositions")
        batch: dict[str, Row] = {}
        for predicted, gold in zip(predictions, gold_labels, strict=True):
            _count_proposition(batch, predicted, gold)
        for rows in _from_all_processes(batch):
            for label, row in rows.items():
                self._rows[label] = _sum([self._rows.get(label, _sum([])), row])

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        # Returns

        `dict[str, float]`
            `precision`, `recall`, `f1` over all labels but V, and for each label seen in either side `precision-ARG0`
            and so on, V too; between 0 and 1; a ratio over nothing is 0.
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
            The numbers of arguments `correct`, `predicted` and `gold`, as plain integers: under `overall`, without V,
            and for each label seen under `labels`.
        """
        labels = {label: dict(row) for label, row in sorted(self._rows.items())}
        return {"overall": self._overall(), "labels": labels}

    def reset(self) -> None:
        """Forgets all counts."""
        self._rows = {}

    def _overall(self) -> Row:
        return _sum(row for label, row in self._rows.items() if label != VERB)


def _count_proposition(rows: dict[str, Row], predicted: Sequence[str], gold: Sequence[str]) -> None:
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} predicted tags for {len(gold)} gold ones")
    predicted_arguments, gold_arguments = set(arguments_from_tags(predicted)), set(arguments_from_tags(gold))
    found = {
        "correct": predicted_arguments & gold_arguments,
        "predicted": predicted_arguments,
        "gold": gold_arguments,
    }
    for name, arguments in found.items():
        for argument in arguments:
            rows.setdefault(argument.label, _sum([]))[name] += 1


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


def _from_all_processes(rows: dict[str, Row]) -> list[dict[str, Row]]:
    """Processes see different labels, hence whole tables are exchanged instead of sums per label."""
    if not is_distributed():
        return [rows]
    gathered: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, rows)
    return gathered
