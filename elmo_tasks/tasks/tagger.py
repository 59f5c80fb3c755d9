"""Base class of the models that tag tokens."""

import logging
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from allennlp.data import TextFieldTensors
from allennlp.nn.util import get_text_field_mask
from overrides import overrides
from torch import Tensor, nn

from elmo_tasks.nn.linear import at_least_float32
from elmo_tasks.tasks.labelled_f1 import LabelledF1
from elmo_tasks.tasks.reader import UNKNOWN_LABEL
from elmo_tasks.tasks.task_model import TaskModel
from elmo_tasks.training.pass_loss import loss_sums, require_finite

logger = logging.getLogger(__name__)


class Tagger(TaskModel):
    """
    A linear layer on h scores the tags of each token.

    A subclass sets `tags`, `score_tags` and `f1` in its constructor and defines
    `decode` and `loss`. The tags' names are those of the vocabulary's namespace
    `labels`, in its order, with any added tags after them.
    """

    shown: tuple[str, ...] = ("words",)
    """The metadata that are part of the output."""

    tags: list[str]
    """The tags by id."""

    score_tags: nn.Linear
    """From h to a score for each tag."""

    f1: LabelledF1
    """The metric, called with the predicted and the gold tags of each sentence."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unknown: set[str] = set()  # gold tags of evaluations that are not `tags`

    @abstractmethod
    def decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        """
        The predicted tags of each sentence, from scores [B, T, tags] and mask [B, T].
        """

    @abstractmethod
    def loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """
        The loss, a scalar, from scores [B, T, tags], gold tags [B, T] and mask [B, T].
        """

    def sums(self, loss: Tensor, tags: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """
        The `loss_sums` of a batch with this loss, gold tags [B, T] and mask [B, T];
        here for a loss that is the mean over the words with known tags.
        """
        count = self.known(tags, mask).sum()
        return loss_sums(loss * count, count)

    def known(self, tags: Tensor, mask: Tensor) -> Tensor:
        """
        Which words have a gold tag of the vocabulary: [B, T], from gold tags [B, T] and
        mask [B, T].
        """
        return mask & (tags != UNKNOWN_LABEL) & (tags < len(self.tags))

    @overrides(check_signature=False)
    def forward(
        self,
        tokens: TextFieldTensors,
        metadata: list[dict[str, Any]],
        tags: Tensor | None = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        - `tokens`: B sentences of T words.
        - `metadata`: the entries that are `shown`, and, if known, the gold tags as
          strings under `tags`.
        - `tags`, [B, T]: the ids of the gold tags; `UNKNOWN_LABEL`, not in the
          vocabulary, is a miss and has no loss.

        Returns `logits` [B, T, tags]; the metadata that are `shown`; `tags`, the
        predicted tags of each sentence as strings (not during training); with gold tags
        the `loss`, a scalar.
        """
        self.require_gold(tags)
        return self.answer(self.score(tokens), tokens, metadata, tags)

    def score(self, tokens: TextFieldTensors, **_: Any) -> dict[str, Tensor]:
        """`logits` [B, T, tags] of B sentences of T words."""
        h, _, _ = self.input_encoder(tokens)
        return {"logits": at_least_float32(self.score_tags(h))}

    def answer(
        self,
        scores: dict[str, Tensor],
        tokens: TextFieldTensors,
        metadata: list[dict[str, Any]],
        tags: Tensor | None = None,
    ) -> dict[str, Any]:
        """The outputs of `forward`, from `logits`; updates the metric."""
        mask = get_text_field_mask(tokens)  # [B, T]
        logits = scores["logits"]
        output: dict[str, Any] = {"logits": logits}
        for name in self.shown:
            output[name] = [sentence[name] for sentence in metadata]
        if tags is not None:
            output["loss"] = self.loss(logits, tags, mask)
            output |= self.sums(output["loss"], tags, mask)
        if not self.training:
            output["tags"] = self.decode(logits, mask)
            if tags is not None:
                gold = [sentence["tags"] for sentence in metadata]
                self.f1(output["tags"], gold)
                self._warn_of_unknown(gold)
        return output

    def _warn_of_unknown(self, gold: Sequence[Sequence[str]]) -> None:
        """Warns of each gold tag that the model does not know, once."""
        found: set[str] = set()
        for sentence in gold:
            found.update(sentence)
        new = found - set(self.tags) - self._unknown
        if new:
            self._unknown |= new
            logger.warning(
                "gold tags that the model does not know are misses, without a loss: %s",
                ", ".join(sorted(new)),
            )

    @overrides(check_signature=False)
    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Removes the scores, after checking them with `require_finite`."""
        require_finite(output_dict.pop("logits"))
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Except during training overall `precision`, `recall` and `f1`. At the end of a
        pass (`reset`) also the scores of each label and ELMo's learned weights, for
        which AllenNLP's progress bar has no room.
        """
        scores: dict[str, float] = {}
        if not self.training:
            if reset and not self.f1.report()["overall"]["gold"]:
                logger.warning("nothing to score: no gold spans")
            scores = self.f1.get_metric(reset)
        if reset:
            return scores | self.input_encoder.describe()
        return {name: value for name, value in scores.items() if "-" not in name}
