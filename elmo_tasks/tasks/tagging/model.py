"""Tokens -> h -> tag scores -> softmax or conditional random field -> tags."""

from typing import Any

from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules import ConditionalRandomField
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.errors import InputError
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.tasks.labels import UNKNOWN_LABEL
from elmo_tasks.tasks.tagger import LABELS, Tagger
from elmo_tasks.tasks.tagging.metric import EntityF1, TagF1


@Model.register("elmo_tasks_tagger")
class ColumnTagger(Tagger):
    """
    A tagger for any tags. The loss is the mean negative log-likelihood per word (with a CRF, of the sentence's tags
    divided by its words).

    # Parameters

    - `crf`: whether a conditional random field scores pairs of tags, instead of a softmax for each word alone.
    - `spans`: whether the tags encode spans (the reader's `spans`). The metrics are then precision, recall and F1.
    - `kwargs`: see `TaskModel`.

    Raises `InputError` if there are no tags.
    """

    default_predictor = "elmo_tasks_tagger"

    def __init__(
        self, vocab: Vocabulary, input_encoder: InputEncoder, *, crf: bool = False, spans: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        self.tags = list(vocab.get_token_to_index_vocabulary(LABELS))
        if not self.tags:
            raise InputError("expected tags in the training data, got none")
        self.score_tags = nn.Linear(self.input_encoder.get_output_dim(), len(self.tags))
        self.crf = ConditionalRandomField(len(self.tags)) if crf else None
        self.f1 = EntityF1() if spans else TagF1()

    def decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        if self.crf is not None:
            return [[self.tags[tag] for tag in path] for path, _ in self.crf.viterbi_tags(logits, mask)]
        rows = zip(logits.argmax(-1).tolist(), mask.sum(1).tolist(), strict=True)
        return [[self.tags[tag] for tag in row[:length]] for row, length in rows]

    def loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Without words whose tag is unknown; with a CRF, without sentences that have one."""
        known = mask & (tags != UNKNOWN_LABEL)  # [B, T]
        if self.crf is None:
            losses = functional.cross_entropy(logits[known], tags[known], reduction="sum")
            return losses / known.sum().clamp(min=1)
        kept = (known == mask).all(1)  # [B]
        if not kept.any():
            return logits.sum() * 0.0
        return -self.crf(logits[kept], tags[kept].clamp(min=0), mask[kept]) / mask[kept].sum()
