"""
Which labels a model confuses: counts of gold and predicted labels on the validation
data.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp.models import Model
from allennlp.training.callbacks import TrainerCallback
from overrides import overrides

from elmo_tasks.system.files import write_text
from elmo_tasks.system.run_names import CONFUSION
from elmo_tasks.training.distributed import all_gather_objects
from elmo_tasks.training.labels import Labelled

_SPAN_TAG = re.compile(r"[BIOUELS]-(.+)")


class Confusion(TrainerCallback):
    """
    Writes `confusion.json`, of the best epoch so far: for each gold label how often
    each label was predicted.
    """

    _counts: Counter[tuple[str, str]] = Counter()

    @overrides
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
            pairs = label_pairs(trainer.model, batch_inputs[0], batch_outputs[0])
            self._counts = self._counts + Counter(pairs)

    @overrides
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
            text = json.dumps(rows, indent=1, ensure_ascii=False)
            write_text(Path(self.serialization_dir) / CONFUSION, text)


def label_pairs(
    model: Model, batch: dict[str, Any], outputs: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """
    Gold and predicted label of each text (a `Labelled` model) or token (a `Tagger`; of
    tags that encode spans the types); nothing for other models.
    """
    has_label = "label" in batch and "probabilities" in outputs
    if has_label and isinstance(model, Labelled):
        golds = batch["label"].tolist()
        best = outputs["probabilities"].argmax(1).tolist()
        for gold, predicted in zip(golds, best, strict=True):
            yield model.labels[gold], model.labels[predicted]
    elif "tags" in batch and "metadata" in batch and "tags" in outputs:
        for sentence, tags in zip(batch["metadata"], outputs["tags"], strict=True):
            for gold, predicted in zip(sentence["tags"], tags, strict=True):
                yield _kind(gold), _kind(predicted)


def _kind(tag: str) -> str:
    """
    The type of a tag that encodes a span, such as PER of B-PER; another tag itself.
    """
    found = _SPAN_TAG.fullmatch(tag)
    if found is None:
        return tag
    return found[1]
