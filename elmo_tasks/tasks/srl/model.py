"""
SRL model: words and predicate -> h -> a distribution over tags -> Viterbi -> BIO tags
(paper, appendix A.5).
"""

from collections.abc import Sequence
from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.nn.util import sequence_cross_entropy_with_logits
from overrides import overrides
from torch import Tensor, nn

from elmo_tasks.formats.annotation.spans import split_tag
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.settings import checked
from elmo_tasks.tasks.reader import complete_labels
from elmo_tasks.tasks.skipped import Skipped
from elmo_tasks.tasks.srl.metric import SrlF1
from elmo_tasks.tasks.tagger import Tagger
from elmo_tasks.tasks.task_model import SoftmaxModel
from elmo_tasks.training.pass_loss import loss_sums


class BioViterbi:
    """
    Finds the legal BIO sequence with the greatest sum of scores: each I-X follows B-X
    or I-X.

    With `best_t(k)` the greatest sum of a legal sequence that ends in tag k at word t:

        best_t(I-X) = score_t(I-X) + max(best_(t-1)(B-X), best_(t-1)(I-X))
        best_t(k) = score_t(k) + max_j best_(t-1)(j), for all other tags

    So a step takes linear time in the number of tags. (AllenNLP's `viterbi_decode`, in
    quadratic time, rounds the scores when it is given constraints on the first tag.)
    `tags` are K tags in the order of their ids.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        ids = {tag: index for index, tag in enumerate(tags)}
        inside = []
        begin = []
        for index, tag in enumerate(tags):
            letter, label = split_tag(tag)
            inside.append(letter == "I")
            begin.append(ids.get(f"B-{label}", index))
        self._own = torch.arange(len(tags))  # [K]
        self._inside = torch.tensor(inside)  # [K]
        self._begin = torch.tensor(begin)  # [K], ids

    def __call__(self, scores: Tensor, mask: Tensor) -> list[list[int]]:
        """
        The ids of each row's best tags, from scores [B, T, K] and the mask [B, T],
        words first.
        """
        scores = scores.detach().cpu()
        mask = mask.cpu()
        best = scores[:, 0].masked_fill(self._inside, -torch.inf)  # [B, K]
        origins: list[Tensor] = []
        for step in range(1, scores.shape[1]):
            moved, origin = self._move(best)
            running = mask[:, step, None]  # [B, 1]
            best = torch.where(running, moved + scores[:, step], best)
            origins.append(torch.where(running, origin, self._own))
        paths = [best.argmax(1)]  # [B]
        for origin in reversed(origins):
            paths.append(origin.gather(1, paths[-1][:, None])[:, 0])
        whole = torch.stack(paths[::-1], 1).tolist()  # [B, T]
        lengths = mask.sum(1).tolist()
        return [path[:end] for path, end in zip(whole, lengths, strict=True)]

    def _move(self, best: Tensor) -> tuple[Tensor, Tensor]:
        """
        For each tag the best score of a sequence that it may follow, and the last tag
        of that: both [B, K].
        """
        greatest, where = best.max(1, keepdim=True)  # [B, 1]
        begun = best[:, self._begin]  # [B, K]
        inner = torch.where(begun > best, self._begin, self._own)
        moved = torch.where(self._inside, torch.maximum(begun, best), greatest)
        return moved, torch.where(self._inside, inner, where)


@Model.register("elmo_tasks_srl")
class SrlTagger(Tagger, SoftmaxModel):
    """
    Semantic role labelling (paper, A.5): the model of He et al. (2017), a dense layer
    with softmax on the encoder's output. The predicate indicator is embedded like the
    words, under the text field's key `predicate`.

    The loss of a batch is the mean over its sentences of the gold tags' negative
    log-likelihood. At test time, Viterbi decoding finds the most probable legal BIO
    sequence.

    # Parameters

    - `sum_token_losses`: if true, the loss of a sentence is the sum over its tokens, as
      in He et al.'s code; if false, the mean, as in AllenNLP. With the sum, clip the
      norm of the gradient (`grad_norm`): with `grad_clipping`, Adadelta diverges.
    - `kwargs`: see `TaskModel`.
    """

    default_predictor = "elmo_tasks_srl"
    default_evaluator = "elmo_tasks_srl"
    shown = ("words", "predicate")

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        sum_token_losses: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        self.tags = complete_labels(vocab)
        self.score_tags = nn.Linear(self.input_encoder.get_output_dim(), len(self.tags))
        nn.init.orthogonal_(self.score_tags.weight)
        nn.init.zeros_(self.score_tags.bias)
        self._sum_token_losses = sum_token_losses
        self._viterbi = BioViterbi(self.tags)
        self.f1 = SrlF1()
        self._skipped = Skipped()

    def answer(
        self,
        scores: dict[str, Tensor],
        tokens: TextFieldTensors,
        metadata: list[dict[str, Any]],
        tags: Tensor | None = None,
    ) -> dict[str, Any]:
        if not self.training:
            self._skipped(metadata)
        return super().answer(scores, tokens, metadata, tags)

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        The scores of a `Tagger`, and at the end of an evaluation `sentences_skipped`,
        the number of those without a score.
        """
        scores = super().get_metrics(reset)
        if reset and not self.training:
            scores["sentences_skipped"] = self._skipped.get_metric(reset)
        return scores

    def decode(self, logits: Tensor, mask: Tensor) -> list[list[str]]:
        paths = self._viterbi(logits.log_softmax(2), mask)
        return [[self.tags[tag] for tag in path] for path in paths]

    def loss(self, logits: Tensor, tags: Tensor, mask: Tensor) -> Tensor:
        """Tokens whose gold tag is not in the vocabulary are left out."""
        known = self.known(tags, mask)  # [B, T]
        tags = tags.where(known, 0)
        if not self._sum_token_losses:
            return sequence_cross_entropy_with_logits(
                logits, tags, known, average="batch"
            )
        by_tag = logits.transpose(1, 2)  # [B, tags, T]
        losses = nn.functional.cross_entropy(by_tag, tags, reduction="none")  # [B, T]
        return losses.where(known, 0.0).sum(1).mean()

    def sums(self, loss: Tensor, tags: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """
        The `loss_sums` of a batch, which count sentences. If the loss is the mean over
        tokens, a sentence without any known tag does not count.
        """
        has_loss = self.known(tags, mask).any(1)  # [B]
        if self._sum_token_losses:
            has_loss = torch.ones_like(has_loss)
        return loss_sums(loss * has_loss.sum(), has_loss.sum())
