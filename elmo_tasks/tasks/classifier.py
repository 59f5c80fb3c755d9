"""Base class of the models that give a text, or a pair, one label; and their metric."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from allennlp.training.metrics import Metric
from torch import Tensor
from torch.nn import functional

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.task_model import SoftmaxModel
from elmo_tasks.training.distributed import all_gather_objects


@Metric.register("elmo_tasks_entailment_accuracy")
class LabelAccuracy(Metric):
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


class Classifier(SoftmaxModel):
    """
    A subclass sets `labels` in its constructor and defines `forward` and `score`, with `logits` [B, K]. The loss of a
    batch is the mean cross-entropy.
    """

    shown: tuple[str, ...] = ("words",)
    """The metadata that are part of the output."""

    labels: list[str]
    """The labels by id."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._accuracy = LabelAccuracy()

    def answer(
        self, scores: dict[str, Tensor], metadata: list[dict[str, Any]], label: Tensor | None = None, **_: Any
    ) -> dict[str, Any]:
        """The outputs of `forward`, from what `score` returns; updates the metric."""
        logits = scores["logits"]
        output: dict[str, Any] = {**scores, "probabilities": logits.softmax(1)}
        output |= {name: [one[name] for one in metadata] for name in self.shown}
        if label is not None:
            output["loss"] = functional.cross_entropy(logits, label)
            self._accuracy(self._names(logits.argmax(1)), self._names(label))
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """`probabilities` by label, and the most probable `label`; checks the scores with `require_finite`."""
        self.require_finite(output_dict.pop("logits"))
        probabilities = output_dict["probabilities"]
        output_dict["label"] = self._names(probabilities.argmax(1))
        output_dict["probabilities"] = [dict(zip(self.labels, row, strict=True)) for row in probabilities.tolist()]
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `accuracy`; at the end of a pass (`reset`) also the recall of each class and ELMo's learned weights.
        Raises `InputError` at the end of an evaluation without gold labels.
        """
        if reset and not self.training and not self._accuracy.total:
            raise InputError("nothing to score: no gold labels", hint="use `elmo-tasks predict` for data without them")
        scores = self._accuracy.get_metric(reset)
        return scores | self.input_encoder.describe() if reset else {"accuracy": scores["accuracy"]}

    def _names(self, ids: Tensor) -> list[str]:
        return [self.labels[index] for index in ids.tolist()]
