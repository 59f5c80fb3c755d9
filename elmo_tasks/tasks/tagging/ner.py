"""Tokens -> h -> tag scores -> conditional random field -> BIOUL tags (paper, appendix A.7)."""

import logging
from typing import Any

from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules import ConditionalRandomField
from allennlp.modules.conditional_random_field.conditional_random_field import allowed_transitions
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.formats.spans import OUTSIDE, split_tag
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.tasks.labels import UNKNOWN_LABEL
from elmo_tasks.tasks.tagger import LABELS, Tagger
from elmo_tasks.tasks.tagging.metric import EntityF1
from elmo_tasks.training.distributed import process_count

logger = logging.getLogger(__name__)


@Model.register("elmo_tasks_ner")
class NerTagger(Tagger):
    """
    The biLSTM-CRF tagger.

    The loss is the negative log-likelihood of the gold tags, summed over the batches of all processes; `elmo.l2` is
    relative to that sum, as in AllenNLP's model. The CRF has no start and end transitions. Viterbi decoding, but not
    the loss, is restricted to legal BIOUL sequences.

    Tags of known types that are missing in the vocabulary are added, so that every sentence has a legal sequence. For
    the parameters see `TaskModel`.
    """

    default_predictor = "elmo_tasks_ner"

    def __init__(self, vocab: Vocabulary, input_encoder: InputEncoder, **kwargs: Any) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        self.tags = complete_tags(vocab)
        self.score_tags = nn.Linear(self.input_encoder.get_output_dim(), len(self.tags))
        constraints = allowed_transitions("BIOUL", dict(enumerate(self.tags)))
        self.crf = ConditionalRandomField(len(self.tags), constraints, include_start_end_transitions=False)
        self.f1 = EntityF1()

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        See `Tagger`. Logs a warning at the end of a pass if the types of some gold entities are unknown. Raises
        `InputError` if there are gold entities, and all their types are unknown.
        """
        if reset and not self.training:
            self._check_gold_types()
        return super().get_metrics(reset)

    def _check_gold_types(self) -> None:
        gold = {label: row["gold"] for label, row in self.f1.report()["labels"].items() if row["gold"]}
        known = {split_tag(tag)[1] for tag in self.tags} - {""}
        unknown = ", ".join(f"{label} {count}" for label, count in gold.items() if label not in known)
        if unknown and known.isdisjoint(gold):
            problem = f"expected gold entities of the types {', '.join(sorted(known))}, got {unknown}"
            raise InputError(problem, hint="the tags are the last column of a file; is it cut off?")
        if unknown:
            logger.warning("gold entities of types that the model does not know: %s", unknown)

    def decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        return [[self.tags[tag] for tag in path] for path, _ in self.crf.viterbi_tags(logits, mask)]

    def loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """The negative log-likelihood, summed over the sentences without unknown tags."""
        foreign = ((tags == UNKNOWN_LABEL) | (tags >= len(self.tags))) & mask  # [B, T]
        kept = ~foreign.any(1)  # [B]
        if not kept.any():
            return logits.sum() * 0.0
        return -self.crf(logits[kept], tags[kept].clamp(min=0), mask[kept]) * process_count()


def complete_tags(vocab: Vocabulary) -> list[str]:
    """
    All tags by id, after adding the missing ones to the vocabulary.

    AllenNLP saves the vocabulary and indexes the labels after constructing the model.
    """
    seen = list(vocab.get_token_to_index_vocabulary(LABELS))
    types = sorted({split_tag(tag)[1] for tag in seen} - {""})
    for tag in [OUTSIDE, *(f"{letter}-{type_}" for type_ in types for letter in "BILU")]:
        vocab.add_token_to_namespace(tag, LABELS)
    return list(vocab.get_token_to_index_vocabulary(LABELS))
