"""
Tokens -> h -> tag scores -> softmax or conditional random field -> tags; NER is a
preset (paper, appendix A.7).
"""

from typing import Any

from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules import ConditionalRandomField
from allennlp.modules.conditional_random_field.conditional_random_field import (
    allowed_transitions,
)
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.formats.annotation.spans import OUTSIDE, join_tag, split_tag
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.settings import Wrong, WrongValues, checked
from elmo_tasks.tasks.reader import complete_labels
from elmo_tasks.tasks.tagger import Tagger
from elmo_tasks.tasks.tagging.metric import EntityF1, TagF1
from elmo_tasks.tasks.tagging.reader import SCHEMES
from elmo_tasks.training.distributed import process_count
from elmo_tasks.training.pass_loss import loss_sums


@Model.register("elmo_tasks_tagger")
class ColumnTagger(Tagger):
    """
    A tagger for any tags. The loss is the mean negative log-likelihood per word (with a
    CRF, of the sentence's tags divided by its words).

    # Parameters

    - `crf`: if true, a conditional random field scores pairs of tags; if false, a
      softmax scores each word separately.
    - `spans`: if true, the tags encode spans (as with the reader's `spans`), and the
      metrics are precision, recall and F1 of spans.
    - `legal`: if true, the CRF decodes legal BIOUL sequences only; its loss is not
      affected. The CRF then has no start and end transitions, and missing tags of known
      types are added to the vocabulary, so that every sentence has a legal sequence.
      Requires `crf` and `spans`.
    - `sum_losses`: if true, the loss is the sum over the batch, as in AllenNLP's NER
      model, instead of the mean per word. This changes the relative size of `elmo.l2`.
    - `kwargs`: see `TaskModel`.

    Raises `InputError` if `legal` is set without `crf` and `spans` or for tags that are
    not in BIOUL, and if the reader has `spans` and the model has not.
    """

    default_predictor = "elmo_tasks_tagger"
    default_evaluator = "elmo_tasks_tagger"

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        crf: bool = False,
        spans: bool = False,
        legal: bool = False,
        sum_losses: bool = False,
        **kwargs: Any,
    ) -> None:
        if legal and not (crf and spans):
            raise WrongValues([Wrong("legal", "false, or crf and spans", legal)])
        super().__init__(vocab, input_encoder, **kwargs)
        if SCHEMES in vocab.get_namespaces() and not spans:
            raise WrongValues([Wrong("spans", "true, as the reader's", spans)])
        self.tags = complete_labels(vocab)
        allowed: list[tuple[int, int]] | None = None
        if legal:
            for tag in self.tags:
                if tag[0] in "BI" and f"L{tag[1:]}" not in self.tags:
                    expected = "false, or a reader with spans"
                    raise WrongValues([Wrong("legal", expected, legal)])
            self.tags = complete_labels(vocab, span_tags(self.tags))
            allowed = allowed_transitions("BIOUL", dict(enumerate(self.tags)))
        self.score_tags = nn.Linear(self.input_encoder.get_output_dim(), len(self.tags))
        self.crf: ConditionalRandomField | None = None
        if crf:
            self.crf = ConditionalRandomField(len(self.tags), allowed, not legal)
        self.f1 = TagF1()
        if spans:
            self.f1 = EntityF1()
        self._sum_losses = sum_losses

    def decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        if self.crf is not None:
            paths = [path for path, _ in self.crf.viterbi_tags(logits, mask)]
        else:
            best = logits.argmax(-1).tolist()  # [B, T]
            lengths = mask.sum(1).tolist()
            paths = [row[:end] for row, end in zip(best, lengths, strict=True)]
        return [[self.tags[tag] for tag in path] for path in paths]

    def loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """
        Without words whose tag is unknown; with a CRF, without sentences that have one.
        """
        known = self.known(tags, mask)  # [B, T]
        if self.crf is None:
            kept = known.flatten().nonzero().squeeze(1)  # of B T
            logits = logits.flatten(0, 1)
            tags = tags.flatten()
        else:
            kept = known.any(1).nonzero().squeeze(1)  # of B
        if not len(kept):
            return logits.sum() * 0.0
        if self.crf is None:
            loss = functional.cross_entropy(logits[kept], tags[kept], reduction="sum")
        else:
            loss = -self.crf(logits[kept], tags[kept].clamp(min=0), mask[kept])
        if self._sum_losses:
            return loss * process_count()
        return loss / known.sum()

    def known(self, tags: Tensor, mask: Tensor) -> Tensor:
        known = super().known(tags, mask)  # [B, T]
        if self.crf is None:
            return known
        return mask & (known == mask).all(1, keepdim=True)

    def sums(self, loss: Tensor, tags: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """Those of words, also with `sum_losses`."""
        if not self._sum_losses:
            return super().sums(loss, tags, mask)
        return loss_sums(loss / process_count(), self.known(tags, mask).sum())


@Model.register("elmo_tasks_ner")
class NerTagger(ColumnTagger):
    """The paper's biLSTM-CRF for NER (A.7): `elmo_tasks_tagger` with other defaults."""

    default_predictor = "elmo_tasks_ner"

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        crf: bool = True,
        spans: bool = True,
        legal: bool = True,
        sum_losses: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            vocab,
            input_encoder,
            crf=crf,
            spans=spans,
            legal=legal,
            sum_losses=sum_losses,
            **kwargs,
        )


def span_tags(seen: list[str]) -> list[str]:
    """All BIOUL tags of the types that these tags have."""
    types = set()
    for tag in seen:
        if tag != OUTSIDE:
            _, type_ = split_tag(tag)
            types.add(type_)
    tags = [OUTSIDE]
    for type_ in sorted(types):
        tags += [join_tag(letter, type_) for letter in "BILU"]
    return tags
