"""Which labels a model confuses: counts of gold and predicted labels on the validation data."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp.models import Model
from allennlp.training.callbacks import TrainerCallback

from elmo_tasks.files import write_text
from elmo_tasks.run_names import CONFUSION
from elmo_tasks.training.distributed import all_gather_objects

_SPAN_TAG = re.compile(r"[BIOUELS]-(.+)")


class Confusion(TrainerCallback):
    """Writes `confusion.json`, of the best epoch so far: for each gold label how often each label was predicted."""

    _counts: Counter[tuple[str, str]] = Counter()

    def on_batch(
        self,
        trainer: Any,
        batch_inputs: list[Any],
        batch_outputs: list[dict[str, Any]],
        *args: Any,
        is_training: bool,
        **kwargs: Any,
    ) -> None:
        """Counts the labels of a validation batch."""
        if not is_training:
            self._counts = self._counts + Counter(
                label_pairs(trainer.model, batch_inputs[0], batch_outputs[0])
            )

    def on_epoch(
        self,
        trainer: Any,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """Writes the counts of all processes, if the epoch is the best one."""
        counts = sum(all_gather_objects(self._counts), Counter())
        self._counts = Counter()
        if counts and is_primary and trainer._metric_tracker.is_best_so_far():
            rows: dict[str, dict[str, int]] = {}
            for (gold, predicted), count in sorted(counts.items()):
                rows.setdefault(gold, {})[predicted] = count
            write_text(
                Path(self.serialization_dir) / CONFUSION,
                json.dumps(rows, indent=1, ensure_ascii=False),
            )


def label_pairs(
    model: Model, batch: dict[str, Any], outputs: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """
    Gold and predicted label of each text (a `Classifier`) or token (a `Tagger`; of tags that encode spans the types);
    nothing for other models.
    """
    if "label" in batch and "probabilities" in outputs and hasattr(model, "labels"):
        for gold, predicted in zip(
            batch["label"].tolist(),
            outputs["probabilities"].argmax(1).tolist(),
            strict=True,
        ):
            yield model.labels[gold], model.labels[predicted]
    elif {"tags", "metadata"} <= batch.keys() and "tags" in outputs:
        for sentence, tags in zip(batch["metadata"], outputs["tags"], strict=True):
            yield from (
                (_kind(gold), _kind(predicted))
                for gold, predicted in zip(sentence["tags"], tags, strict=True)
            )


def _kind(tag: str) -> str:
    found = _SPAN_TAG.fullmatch(tag)
    return found[1] if found else tag
