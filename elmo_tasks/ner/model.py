"""Third step of NER: tokens -> h -> a score per tag -> conditional random field -> BIOUL tags (paper, appendix A.7)."""

import logging
from collections.abc import Sequence
from typing import Any

from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import ConditionalRandomField
from allennlp.modules.conditional_random_field.conditional_random_field import allowed_transitions
from torch import Tensor, nn

from elmo_tasks.data.labels import UNKNOWN_LABEL
from elmo_tasks.data.spans import OUTSIDE, split_tag
from elmo_tasks.ner.metric import EntityF1
from elmo_tasks.nn.task_model import TaskModel

logger = logging.getLogger(__name__)

LABELS = "labels"
"""The part of the vocabulary that holds the tags."""


@Model.register("elmo_tasks_ner")
class NerTagger(TaskModel):
    """
    The biLSTM-CRF tagger.

    The loss of a batch is the sum over its sentences of the negative log-likelihood of the gold tags, plus ELMo's
    penalty: `elmo.l2` weighs against a sum, as it did in AllenNLP's model. The field has scores for pairs of tags, none
    for the first and the last one; the Viterbi search passes through legal BIOUL sequences alone, the loss does not.

    The tags that the vocabulary lacks for a type it has (no person of one word in a small corpus) are added, so that
    every sentence has a legal sequence.

    # Parameters

    vocab : `Vocabulary`
    kwargs
        See `TaskModel`.
    """

    default_predictor = "elmo_tasks_ner"

    def __init__(self, vocab: Vocabulary, **kwargs: Any) -> None:
        super().__init__(vocab, **kwargs)
        self.tags = complete_tags(vocab)
        self.score_tags = nn.Linear(self.lowest_layers.get_output_dim(), len(self.tags))
        constraints = allowed_transitions("BIOUL", dict(enumerate(self.tags)))
        self.crf = ConditionalRandomField(len(self.tags), constraints, include_start_end_transitions=False)
        self._entity_f1 = EntityF1()

    def forward(
        self, tokens: TextFieldTensors, metadata: list[dict[str, Any]], tags: Tensor | None = None
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens : `TextFieldTensors`
            B sentences of T words.
        metadata : `list[dict[str, Any]]`
            For each sentence its `words`, and under `tags` the gold tags as strings, where there are any.
        tags : `Tensor`, optional, shape [B, T]
            The gold tags' ids; `UNKNOWN_LABEL` for one that the model has not.

        # Returns

        `dict[str, Any]`
            `logits` [B, T, tags]; `words`; `tags`, for each sentence its predicted tags as strings (not while
            training, where nobody reads them); with gold tags the `loss`, a scalar. Sentences with a tag that the
            model has not count in the metric, as misses, and not in the loss.
        """
        self.require_gold(tags)
        h, _, mask = self.lowest_layers(tokens)
        logits = self.score_tags(h)  # [B, T, tags]
        output: dict[str, Any] = {"logits": logits, "words": [sentence["words"] for sentence in metadata]}
        if not self.training:
            output["tags"] = self._decode(logits, mask)
        if tags is not None:
            output["loss"] = self._loss(logits, tags, mask) + self.lowest_layers.penalty()
            self._score(output.get("tags"), metadata)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Leaves out the scores: what remains are words, tags and the loss."""
        output_dict.pop("logits", None)
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        # Returns

        `dict[str, float]`
            `precision`, `recall` and `f1` over all types; none while training, where nothing is decoded. At the end of
            a pass, `reset`, each type's besides, and what ELMo has learned; AllenNLP shows the others in its progress
            bar, which has no room for more.
        """
        scores = {} if self.training else self._entity_f1.get_metric(reset)
        if reset:
            return scores | self.lowest_layers.describe()
        return {name: value for name, value in scores.items() if "-" not in name}

    def _decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        return [[self.tags[tag] for tag in path] for path, _ in self.crf.viterbi_tags(logits, mask)]

    def _loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The negative log-likelihood, summed over the sentences whose tags the model has."""
        foreign = ((tags == UNKNOWN_LABEL) | (tags >= len(self.tags))) & mask  # [B, T]
        kept = ~foreign.any(1)  # [B]
        if not kept.any():
            return logits.sum() * 0.0
        return -self.crf(logits[kept], tags[kept].clamp(min=0), mask[kept])

    def _score(self, predicted: list[list[str]] | None, metadata: Sequence[dict[str, Any]]) -> None:
        if predicted is not None:
            self._entity_f1(predicted, [sentence["tags"] for sentence in metadata])


def complete_tags(vocab: Vocabulary) -> list[str]:
    """
    All tags in the order of their ids, after adding to the vocabulary those that its types want and lack.

    AllenNLP saves the vocabulary, and looks the labels up, after it has constructed the model.
    """
    seen = list(vocab.get_token_to_index_vocabulary(LABELS))
    types = sorted({split_tag(tag)[1] for tag in seen} - {""})
    for tag in [OUTSIDE, *(f"{letter}-{type_}" for type_ in types for letter in "BILU")]:
        vocab.add_token_to_namespace(tag, LABELS)
    return list(vocab.get_token_to_index_vocabulary(LABELS))
