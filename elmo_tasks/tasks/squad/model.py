"""
Passage and question -> h -> bidirectional attention -> self-attention -> first and last token of the answer (paper,
appendix A.4; a simplified form of Clark and Gardner 2017).
"""

from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import InputVariationalDropout
from allennlp.nn.util import get_text_field_mask, min_value_of_dtype
from torch import Tensor, nn

from elmo_tasks.errors import InputError
from elmo_tasks.nn.attention import BiAttention
from elmo_tasks.nn.input_encoder import InputEncoder
from elmo_tasks.nn.precision import at_least_float32
from elmo_tasks.settings import Probability, Size, checked
from elmo_tasks.tasks.predictor import Sentence
from elmo_tasks.tasks.squad.layers import (
    ChainedPointers,
    ResidualSelfAttention,
    Spans,
    best_spans,
    relu_layer,
)
from elmo_tasks.tasks.squad.metric import SquadEmAndF1
from elmo_tasks.tasks.task_model import SoftmaxModel
from elmo_tasks.training.pass_loss import loss_sums

Metadata = list[dict[str, Any]]


@Model.register("elmo_tasks_squad")
class SquadModel(SoftmaxModel):
    """
    Bidirectional attention flow with residual self-attention.

    The loss is the sum of the cross-entropies of the first and the last token, averaged over questions. All layers have
    the output size of the lowest encoder, GRUs half of it per direction.

    # Parameters

    - `dropout`: variational dropout before and after the GRU of the self-attention, and before those of the pointers.
    - `max_span_length`: the maximum number of tokens of an answer.
    - `n_best`: the number of answers for each question.
    - `kwargs`: see `TaskModel`; passage and question share the input encoder.

    Raises `InputError` if the encoder's output size is odd.
    """

    default_predictor = "elmo_tasks_squad"

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
            raise InputError(
                f"expected an encoder with an even output size, for two directions, got {width}"
            )
        self.max_span_length, self.n_best = max_span_length, n_best
        self.attention = BiAttention(self.input_encoder.get_output_dim())
        self.merge = relu_layer(4 * self.input_encoder.get_output_dim(), width)
        self.self_attention = ResidualSelfAttention(size=width // 2, dropout=dropout)
        self.dropout = InputVariationalDropout(dropout)
        self.pointers = ChainedPointers(size=width // 2)
        self._em_and_f1 = SquadEmAndF1()

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
        - `span_start`, `span_end`, [B, 1]: the first and last token of the answer, or `NO_SPAN`.

        Returns `start_logits` and `end_logits`, shape [B, T], the lowest number at padding; `id` and `question`; in
        evaluation mode `spans`, the `n_best` answers of each question, best first, as dictionaries of `text`, `start`,
        `end`, `token_start`, `token_end`, `score` and `probability`; with gold spans the `loss`, a scalar. Questions
        with gold answers count in the metric, also with `NO_SPAN`.
        """
        self.require_gold(span_start)
        return self.answer(
            self.score(passage, question), passage, metadata, span_start, span_end
        )

    def score(
        self, passage: TextFieldTensors, question: TextFieldTensors, **_: Any
    ) -> dict[str, Tensor]:
        """`start_logits` and `end_logits` [B, T]."""
        passage_h, _, mask = self.input_encoder(passage)  # [B, T, D]
        question_h, _, question_mask = self.input_encoder(question)  # [B, U, D]
        attended = self.attention(
            passage_h, mask, question_h, question_mask
        )  # [B, T, 4D]
        x = self.self_attention(self.merge(attended), mask)  # [B, T, W]
        starts, ends = map(
            at_least_float32, self.pointers(self.dropout(x), mask)
        )  # [B, T]
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
        mask, starts, ends = (
            get_text_field_mask(passage),
            scores["start_logits"],
            scores["end_logits"],
        )
        output: dict[str, Any] = dict(scores)
        output |= {key: [one[key] for one in metadata] for key in ("id", "question")}
        if not self.training:
            best = best_spans(
                starts, ends, mask, max_length=self.max_span_length, count=self.n_best
            )
            output["spans"] = _answers(best, metadata)
            known = [
                (spans, one["answers"])
                for spans, one in zip(output["spans"], metadata, strict=True)
            ]
            scored = [
                (spans[0]["text"] if spans else "", golds)
                for spans, golds in known
                if golds
            ]
            self._em_and_f1(
                [text for text, _ in scored], [golds for _, golds in scored]
            )
        if span_start is not None and span_end is not None:
            output["loss"] = span_loss(starts, span_start) + span_loss(ends, span_end)
            count = (span_start >= 0).sum()
            output |= loss_sums(output["loss"] * count, count)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Removes the logits; see `require_finite`."""
        self.require_finite(output_dict["start_logits"], output_dict["end_logits"])
        return {
            name: value
            for name, value in output_dict.items()
            if not name.endswith("_logits")
        }

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns `em` and `f1`, between 0 and 1, in evaluation mode; with `reset` also the parameters of ELMo's mix.
        """
        scores = {} if self.training else self._em_and_f1.get_metric(reset)
        return scores | self.input_encoder.describe() if reset else scores


def span_loss(logits: Tensor, gold: Tensor) -> Tensor:
    """
    The mean cross-entropy of the gold tokens [B, 1], indices or `NO_SPAN`, under logits [B, T]; 0 if no question has
    one.
    """
    known = gold.squeeze(-1) >= 0  # [B]
    losses = nn.functional.cross_entropy(
        logits, gold.squeeze(-1).clamp(min=0), reduction="none"
    )  # [B]
    return torch.where(known, losses, 0.0).sum() / known.sum().clamp(min=1)


def _answers(best: Spans, metadata: Metadata) -> list[list[dict[str, Any]]]:
    """The spans of each question: fewer than `n_best` in a short passage, none if scores are NaN."""
    found: list[list[dict[str, Any]]] = [[] for _ in metadata]
    for answers, one, *row in zip(
        found, metadata, *(part.tolist() for part in best), strict=True
    ):
        passage = Sentence([], one["passage"], one["offsets"])
        for first, last, score, probability in zip(*row, strict=True):
            if score > -torch.inf:
                answers.append(
                    {
                        **passage.located(first, last + 1),
                        "score": score,
                        "probability": probability,
                    }
                )
    return found
