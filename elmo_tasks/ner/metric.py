"""
Entity precision, recall and F1 as conlleval counts them: an entity is right if its boundaries and
its type are.

Source: the scorer of the CoNLL-2000 to 2003 shared tasks. Departures: values are between 0 and 1,
and BIOUL or BIOES tags count as the BIO tags they stand for (U and S as B, L and E as I).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch.distributed
from allennlp.common.util import is_distributed
from allennlp.training.metrics import Metric

from elmo_tasks.data.spans import spans_from_tags

Row = dict[str, int]


@Metric.register("elmo_tasks_entity_f1")
class EntityF1(Metric):
    """
    Micro-averaged entity scores, overall and per type.

    In distributed runs the counts of each call are summed over the processes, as AllenNLP's metrics
    do; every process must call it equally often.
    """

    supports_distributed = True

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def __call__(self, predictions: Sequence[Sequence[str]], gold_labels: Sequence[Sequence[str]]) -> None:
        """
        Adds a batch of B sentences.

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
            raise ValueError(f"{len(predictions)} predictions for {len(gold_labels)} sentences")
        batch: dict[str, Row] = {}
        for predicted, gold in zip(predictions, gold_labels, strict=True):
            _count_sentence(batch, predicted, gold)
        for rows in _from_all_processes(batch):
            for label, row in rows.items():
                self._rows[label] = _sum([self._rows.get(label, _sum([])), row])

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """
        # Returns

        `dict[str, float]`
            `precision`, `recall`, `f1`, and for each type seen in either side `precision-PER` and
            so on, between 0 and 1; a ratio over nothing is 0.
        """
        scores = _scores(_sum(self._rows.values()))
        for label, row in sorted(self._rows.items()):
            scores |= {f"{name}-{label}": value for name, value in _scores(row).items()}
        if reset:
            self.reset()
        return scores

    def report(self) -> dict[str, Any]:
        """
        # Returns

        `dict[str, Any]`
            The numbers of entities `correct`, `predicted` and `gold`, as plain integers: under
            `overall`, and for each type seen under `types`.
        """
        types = {label: dict(row) for label, row in sorted(self._rows.items())}
        return {"overall": _sum(self._rows.values()), "types": types}

    def reset(self) -> None:
        """Forgets all counts."""
        self._rows = {}


def _count_sentence(rows: dict[str, Row], predicted: Sequence[str], gold: Sequence[str]) -> None:
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} predicted tags for {len(gold)} gold ones")
    predicted_spans, gold_spans = set(spans_from_tags(predicted)), set(spans_from_tags(gold))
    found = {
        "correct": predicted_spans & gold_spans,
        "predicted": predicted_spans,
        "gold": gold_spans,
    }
    for name, spans in found.items():
        for span in spans:
            rows.setdefault(span.label, _sum([]))[name] += 1


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
    """Processes see different types, hence whole tables are exchanged instead of sums per type."""
    if not is_distributed():
        return [rows]
    gathered: list[Any] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(gathered, rows)
    return gathered
