"""Base class of the models that give a text, or a pair, one label."""

from typing import Any

from allennlp.data import TextFieldTensors
from allennlp.training.metrics import CategoricalAccuracy
from overrides import overrides
from torch import Tensor
from torch.nn import functional

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.task_model import SoftmaxModel
from elmo_tasks.training.pass_loss import loss_sums, require_finite


class Classifier(SoftmaxModel):
    """
    Classifies each instance into one of K labels. A subclass sets `labels` in its
    constructor and defines `score`, which returns `logits` [B, K] for the text fields
    of a batch. The loss of a batch is the mean cross-entropy.
    """

    default_evaluator = "elmo_tasks_classifier"
    shown: tuple[str, ...] = ("words",)
    """The metadata that are part of the output."""

    labels: list[str]
    """The labels by id."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._accuracy = CategoricalAccuracy()

    @overrides(check_signature=False)
    def forward(
        self,
        *,
        metadata: list[dict[str, Any]],
        label: Tensor | None = None,
        **texts: TextFieldTensors,
    ) -> dict[str, Any]:
        """
        # Parameters

        - `metadata`: for each of B instances the entries that are `shown`.
        - `label`, [B]: ids of the gold labels.
        - `texts`: the other fields, for `score`.

        Returns what `score` does, `probabilities` [B, K] in the order of `labels`, and
        the metadata that are `shown`; with gold labels the `loss`, a scalar.
        """
        self.require_gold(label)
        return self.answer(self.score(**texts), metadata, label)

    def answer(
        self,
        scores: dict[str, Tensor],
        metadata: list[dict[str, Any]],
        label: Tensor | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """The outputs of `forward`, from what `score` returns; updates the metric."""
        logits = scores["logits"]
        output: dict[str, Any] = dict(scores)
        output["probabilities"] = logits.softmax(1)
        for name in self.shown:
            output[name] = [one[name] for one in metadata]
        if label is not None:
            output["loss"] = functional.cross_entropy(logits, label)
            output |= loss_sums(output["loss"] * len(label), len(label))
            self._accuracy(logits, label)
        return output

    @overrides(check_signature=False)
    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        `probabilities` by label, and the most probable `label`; checks the scores with
        `require_finite`.
        """
        require_finite(output_dict.pop("logits"))
        probabilities = output_dict["probabilities"]  # [B, K]
        best = probabilities.argmax(1).tolist()
        output_dict["label"] = [self.labels[index] for index in best]
        rows = probabilities.tolist()
        by_label = [dict(zip(self.labels, row, strict=True)) for row in rows]
        output_dict["probabilities"] = by_label
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `accuracy`; at the end of a pass (`reset`) also ELMo's learned weights.
        Raises `InputError` at the end of an evaluation without gold labels.
        """
        if reset and not self.training and not self._accuracy.total_count:
            raise InputError(
                "nothing to score: no gold labels",
                hint="use `elmo-tasks predict` for data without them",
            )
        scores = {"accuracy": self._accuracy.get_metric(reset)}
        if reset:
            scores |= self.input_encoder.describe()
        return scores
