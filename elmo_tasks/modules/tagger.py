"""What the models that give each token a tag have in common."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from allennlp.data import TextFieldTensors
from torch import Tensor, nn

from elmo_tasks.metrics.labelled_f1 import LabelledF1
from elmo_tasks.modules.precision import at_least_float32
from elmo_tasks.modules.task_model import TaskModel

LABELS = "labels"
"""The part of the vocabulary that holds the tags."""


class Tagger(TaskModel):
    """
    A linear layer on h gives each token a score for each tag. A child constructs that layer and the metric, and says
    how scores become tags and a loss.
    """

    shown: tuple[str, ...] = ("words",)
    """What of a sentence's metadata stands in the output."""

    tags: list[str]
    score_tags: nn.Linear
    f1: LabelledF1

    @abstractmethod
    def _decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        """The predicted tags of scores [B, T, tags] and mask [B, T]: of each sentence as many as it has tokens."""

    @abstractmethod
    def _loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The loss of scores [B, T, tags] for gold tags [B, T], a scalar."""

    def forward(
        self, tokens: TextFieldTensors, metadata: list[dict[str, Any]], tags: Tensor | None = None
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens : `TextFieldTensors`
            B sentences of T words.
        metadata : `list[dict[str, Any]]`
            For each sentence what is `shown`, and under `tags` the gold tags as strings, where there are any.
        tags : `Tensor`, optional, shape [B, T]
            The gold tags' ids; `UNKNOWN_LABEL` for one that the model has not.

        # Returns

        `dict[str, Any]`
            `logits` [B, T, tags]; what is `shown`; `tags`, for each sentence its predicted tags as strings (not while
            training, where nobody reads them); with gold tags the `loss`, a scalar. What has a tag that the model has
            not counts in the metric, as a miss, and not in the loss.
        """
        self.require_gold(tags)
        h, _, mask = self.lowest_layers(tokens)
        logits = at_least_float32(self.score_tags(h))  # [B, T, tags]
        output: dict[str, Any] = {"logits": logits}
        output |= {name: [sentence[name] for sentence in metadata] for name in self.shown}
        if not self.training:
            output["tags"] = self._decode(logits, mask)
        if tags is not None:
            output["loss"] = self._loss(logits, tags, mask) + self.lowest_layers.penalty()
            self._score(output.get("tags"), metadata)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Leaves out the scores: what remains is what is `shown`, tags and the loss; see `require_finite`."""
        self.require_finite(output_dict.pop("logits"))
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        # Returns

        `dict[str, float]`
            `precision`, `recall` and `f1` overall; none while training, where nothing is decoded. At the end of a pass,
            `reset`, each label's besides, and what ELMo has learned; AllenNLP shows the others in its progress bar,
            which has no room for more.
        """
        scores = {} if self.training else self.f1.get_metric(reset)
        if reset:
            return scores | self.lowest_layers.describe()
        return {name: value for name, value in scores.items() if "-" not in name}

    def _score(self, predicted: list[list[str]] | None, metadata: Sequence[dict[str, Any]]) -> None:
        if predicted is not None:
            self.f1(predicted, [sentence["tags"] for sentence in metadata])
