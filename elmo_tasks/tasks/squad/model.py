"""
Passage and question -> h -> bidirectional attention -> self-attention -> first and last
token of the answer (paper, appendix A.4; a simplified form of Clark and Gardner 2017).
"""

from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import InputVariationalDropout
from allennlp.nn.util import get_text_field_mask, min_value_of_dtype
from overrides import overrides
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.nn.attention import BiAttention
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.nn.linear import at_least_float32
from elmo_tasks.settings import Probability, Size, checked
from elmo_tasks.tasks.predictor import TokenizedText
from elmo_tasks.tasks.squad.layers import (
    ChainedPointers,
    MergeAttended,
    ResidualSelfAttention,
    Spans,
    best_spans,
)
from elmo_tasks.tasks.squad.metric import SquadEmAndF1
from elmo_tasks.tasks.squad.official import best_text
from elmo_tasks.tasks.task_model import SoftmaxModel
from elmo_tasks.training.pass_loss import loss_sums, require_finite

Metadata = list[dict[str, Any]]


@Model.register("elmo_tasks_squad")
class SquadModel(SoftmaxModel):
    """
    Question answering (paper, A.4): the model of Clark and Gardner (2017),
    bidirectional attention flow with residual self-attention.

    The loss is the sum of the cross-entropies of the first and the last token, averaged
    over questions. All layers have the output size of the lowest encoder, GRUs half of
    it per direction.

    # Parameters

    - `dropout`: variational dropout before and after the GRU of the self-attention, and
      before the GRUs that point to the answer's first and last token.
    - `max_span_length`: largest number of tokens in an answer.
    - `n_best`: number of answers that a prediction lists for each question.
    - `kwargs`: see `TaskModel`; passage and question share the input encoder.

    Raises `InputError` if the encoder's output size is odd.
    """

    default_predictor = "elmo_tasks_squad"
    default_evaluator = "elmo_tasks_squad"

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        dropout: Probability = 0.0,
        max_span_length: Size = 17,
        n_best: Size = 5,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        width = self.input_encoder.encoder.get_output_dim()
        if width % 2:
            wanted = "an encoder with an even output size, for two directions"
            raise InputError(f"expected {wanted}, got {width}")
        self.max_span_length = max_span_length
        self.n_best = n_best
        self.attention = BiAttention(self.input_encoder.get_output_dim())
        self.merge = MergeAttended(
            width=self.input_encoder.get_output_dim(), size=width
        )
        self.self_attention = ResidualSelfAttention(size=width // 2, dropout=dropout)
        self.dropout = InputVariationalDropout(dropout)
        self.pointers = ChainedPointers(size=width // 2)
        self._em_and_f1 = SquadEmAndF1()

    @overrides(check_signature=False)
    def forward(
        self,
        passage: TextFieldTensors,
        question: TextFieldTensors,
        metadata: Metadata,
        span_start: Tensor | None = None,
        span_end: Tensor | None = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        - `passage`, `question`: B texts of T and U tokens.
        - `metadata`: see `SquadReader.text_to_instance`.
        - `span_start`, `span_end`, [B, 1]: the first and last token of the answer, or
          `NO_SPAN`.

        Returns `start_logits` and `end_logits`, shape [B, T], the lowest number at
        padding; `id` and `question`; in evaluation mode `spans`, the `n_best` answers
        of each question, best first, as dictionaries of `text`, `start`, `end`,
        `token_start`, `token_end`, `score` and `probability`; with gold spans the
        `loss`, a scalar. Questions with gold answers count in the metric, also with
        `NO_SPAN`.
        """
        self.require_gold(span_start)
        scores = self.score(passage, question)
        return self.answer(scores, passage, metadata, span_start, span_end)

    def score(
        self, passage: TextFieldTensors, question: TextFieldTensors, **_: Any
    ) -> dict[str, Tensor]:
        """`start_logits` and `end_logits` [B, T]."""
        passage_h, _, mask = self.input_encoder(passage)  # [B, T, D]
        question_h, _, question_mask = self.input_encoder(question)  # [B, U, D]
        attended, summary = self.attention(
            passage_h, mask, question_h, question_mask
        )  # [B, T, D], [B, D]
        x = self.self_attention(
            self.merge(passage_h, attended, summary), mask
        )  # [B, T, W]
        starts, ends = self.pointers(self.dropout(x), mask)  # [B, T] each
        starts = at_least_float32(starts)
        ends = at_least_float32(ends)
        lowest = min_value_of_dtype(starts.dtype)
        return {
            "start_logits": starts.masked_fill(~mask, lowest),
            "end_logits": ends.masked_fill(~mask, lowest),
        }

    def answer(
        self,
        scores: dict[str, Tensor],
        passage: TextFieldTensors,
        metadata: Metadata,
        span_start: Tensor | None = None,
        span_end: Tensor | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """The outputs of `forward`, from what `score` returns; updates the metric."""
        mask = get_text_field_mask(passage)  # [B, T]
        starts = scores["start_logits"]
        ends = scores["end_logits"]
        output: dict[str, Any] = dict(scores)
        for key in ("id", "question"):
            output[key] = [one[key] for one in metadata]
        if not self.training:
            best = best_spans(
                starts, ends, mask, max_length=self.max_span_length, count=self.n_best
            )
            output["spans"] = _answers(best, metadata)
            self._score(output["spans"], metadata)
        if span_start is not None and span_end is not None:
            output["loss"] = span_loss(starts, span_start) + span_loss(ends, span_end)
            count = (span_start >= 0).sum()
            output |= loss_sums(output["loss"] * count, count)
        return output

    def _score(self, answers: list[list[dict[str, Any]]], metadata: Metadata) -> None:
        """Updates the metric with the questions that have gold answers."""
        texts = []
        golds = []
        for spans, one in zip(answers, metadata, strict=True):
            if one["answers"]:
                texts.append(best_text(spans))
                golds.append(one["answers"])
        self._em_and_f1(texts, golds)

    @overrides(check_signature=False)
    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Removes the logits; see `require_finite`."""
        starts = output_dict.pop("start_logits")
        require_finite(starts, output_dict.pop("end_logits"))
        return output_dict

    @overrides
    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `em` and `f1`, between 0 and 1, in evaluation mode; with `reset` also
        the parameters of ELMo's mix.
        """
        scores: dict[str, float] = {}
        if not self.training:
            scores |= self._em_and_f1.get_metric(reset)
        if reset:
            scores |= self.input_encoder.describe()
        return scores


def span_loss(logits: Tensor, gold: Tensor) -> Tensor:
    """
    The mean cross-entropy of the gold tokens [B, 1], indices or `NO_SPAN`, under logits
    [B, T]; 0 if no question has one.
    """
    gold = gold.squeeze(-1)  # [B]
    known = gold >= 0  # [B]
    losses = nn.functional.cross_entropy(
        logits, gold.clamp(min=0), reduction="none"
    )  # [B]
    return torch.where(known, losses, 0.0).sum() / known.sum().clamp(min=1)


def _answers(best: Spans, metadata: Metadata) -> list[list[dict[str, Any]]]:
    """
    The spans of each question: fewer than `n_best` in a short passage, none if scores
    are NaN.
    """
    starts = best.starts.tolist()
    ends = best.ends.tolist()
    scores = best.scores.tolist()
    probabilities = best.probabilities.tolist()
    of_questions = []
    for row, one in enumerate(metadata):
        passage = TokenizedText([], one["passage"], one["offsets"])
        answers = []
        for rank, score in enumerate(scores[row]):
            if score > -torch.inf:
                answer = passage.located(starts[row][rank], ends[row][rank] + 1)
                answer["score"] = score
                answer["probability"] = probabilities[row][rank]
                answers.append(answer)
        of_questions.append(answers)
    return of_questions
