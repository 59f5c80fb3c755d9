"""
SNLI model: the ESIM sequence model, premise and hypothesis -> three scores (paper,
appendix A.3).
"""

from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.nn.util import masked_max, masked_mean, masked_softmax
from overrides import overrides
from torch import Tensor, nn

from elmo_tasks.nn.initialization import glorot
from elmo_tasks.nn.input_encoder import InputEncoder, LazyEncoder, construct
from elmo_tasks.nn.linear import Linear, at_least_float32
from elmo_tasks.settings import Factor, Probability, Width, checked
from elmo_tasks.tasks.classifier import Classifier
from elmo_tasks.tasks.reader import complete_labels
from elmo_tasks.tasks.snli.reader import LABELS


@Model.register("elmo_tasks_snli")
class EntailmentModel(Classifier):
    """
    Entailment (paper, A.3): the sequence model of Chen et al. (2017), section 3:

        h = input encoder, for premise and hypothesis
        a_i = sum_j softmax_j(h_i . h_j) h_j, over the words j of the other sentence
        m_i = ReLU(W [h_i; a_i; h_i - a_i; h_i * a_i] + b)
        v = composition(m)
        scores = classifier([mean and maximum of v, of premise and hypothesis])

    The loss of a batch is the mean cross-entropy of its pairs. As in the paper, ELMo
    comes with dropout after the attention, and with an L2 penalty on weight matrices,
    which the trainer adds as `reg_loss`.

    # Parameters

    - `vocab`: missing labels are added.
    - `hidden_size`: width of the projection after the attention, and of the hidden
      layer of the classifier (H).
    - `composition`: encodes the projected vectors.
    - `dropout`: dropout on the input of each of the last two layers.
    - `attention_dropout`: dropout on the vectors after the attention, before the
      projection. Ignored if `elmo` is null.
    - `weight_l2`: L2 penalty on the weight matrices of all recurrent and feed-forward
      layers. Ignored if `elmo` is null.
    - `kwargs`: see `TaskModel`.
    """

    default_predictor = "elmo_tasks_snli"
    shown = ("premise", "hypothesis")

    @checked
    def __init__(
        self,
        vocab: Vocabulary,
        input_encoder: InputEncoder,
        *,
        composition: LazyEncoder,
        hidden_size: Width,
        dropout: Probability = 0.5,
        attention_dropout: Probability = 0.5,
        weight_l2: Factor = 1e-4,
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, input_encoder, **kwargs)
        if input_encoder.elmo is None:
            attention_dropout = 0.0
            weight_l2 = 0.0
        self.attention_dropout = nn.Dropout(attention_dropout)
        self.weight_l2 = weight_l2
        width = 4 * input_encoder.get_output_dim()
        self.projection = glorot(Linear(width, hidden_size))
        self.composition = construct(composition, hidden_size)
        self.labels = complete_labels(vocab, LABELS)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout),
            glorot(Linear(4 * self.composition.get_output_dim(), hidden_size)),
            nn.ReLU(),
            nn.Dropout(dropout),
            glorot(Linear(hidden_size, len(self.labels))),
        )

    def score(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors, **_: Any
    ) -> dict[str, Tensor]:
        """
        For B pairs of P and Q words: `logits` [B, 3], and the attention of each word
        over the words of the other sentence: `over_hypothesis` [B, P, Q] and
        `over_premise` [B, Q, P].
        """
        p, _, p_mask = self.input_encoder(premise)  # [B, P, D]
        q, _, q_mask = self.input_encoder(hypothesis)  # [B, Q, D]
        scores = p @ q.transpose(1, 2)  # [B, P, Q], Chen et al. (2017), equation 11
        over_hypothesis = attention_weights(scores, q_mask)  # [B, P, Q]
        over_premise = attention_weights(scores.transpose(1, 2), p_mask)  # [B, Q, P]
        of_premise = self._compose(p, over_hypothesis @ q, p_mask)  # [B, 2E]
        of_hypothesis = self._compose(q, over_premise @ p, q_mask)  # [B, 2E]
        logits = self.classifier(torch.cat([of_premise, of_hypothesis], -1))
        return {
            "logits": at_least_float32(logits),
            "over_hypothesis": at_least_float32(over_hypothesis),
            "over_premise": at_least_float32(over_premise),
        }

    def _compose(self, h: Tensor, attended: Tensor, mask: Tensor) -> Tensor:
        """
        A sentence's words h and what they attend to [B, T, D] -> the average and the
        maximum of its composed words [B, 2E].
        """
        # Chen et al. (2017), equations 14 and 15
        enhanced = torch.cat([h, attended, h - attended, h * attended], -1)
        enhanced = self.attention_dropout(enhanced)  # [B, T, 4D]
        composed = self.composition(self.projection(enhanced).relu(), mask)  # [B, T, E]
        # Equations 18 to 20
        words = mask[:, :, None]
        mean = masked_mean(composed, words, 1)  # [B, E], at least float32
        return torch.cat([mean.to(composed.dtype), masked_max(composed, words, 1)], -1)

    @overrides
    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        See `Classifier`; removes padding from the attention: `premise_attention` has a
        row of weights over the hypothesis for each word of the premise,
        `hypothesis_attention` the reverse.
        """
        over_hypothesis = output_dict.pop("over_hypothesis")
        over_premise = output_dict.pop("over_premise")
        premises = output_dict["premise"]
        hypotheses = output_dict["hypothesis"]
        of_premises = []
        of_hypotheses = []
        for row, (premise, hypothesis) in enumerate(
            zip(premises, hypotheses, strict=True)
        ):
            p = len(premise)
            h = len(hypothesis)
            of_premises.append(over_hypothesis[row, :p, :h].tolist())
            of_hypotheses.append(over_premise[row, :h, :p].tolist())
        output_dict["premise_attention"] = of_premises
        output_dict["hypothesis_attention"] = of_hypotheses
        return super().make_output_human_readable(output_dict)

    @overrides
    def get_regularization_penalty(self) -> Tensor | None:
        """See `TaskModel`; with ELMo also the penalty on weight matrices."""
        configured = super().get_regularization_penalty()
        if not self.weight_l2:
            return configured
        squares = [matrix.square().sum() for matrix in self.weight_matrices()]
        penalty = self.weight_l2 * torch.stack(squares).sum()
        if configured is None:
            return penalty
        return penalty + configured

    def weight_matrices(self) -> list[nn.Parameter]:
        """
        All weight matrices of the recurrent and feed-forward layers: no biases,
        embeddings or parts of ELMo.
        """
        layers = (
            self.input_encoder.encoder,
            self.projection,
            self.composition,
            self.classifier,
        )
        found = []
        for layer in layers:
            for weights in layer.parameters():
                if weights.dim() > 1:
                    found.append(weights)
        return found


def attention_weights(scores: Tensor, mask: Tensor) -> Tensor:
    """
    The weights [B, T, S] of each of T words over the S words of the other sentence
    (Chen et al. 2017, equations 12 and 13), from scores [B, T, S] and the other's mask
    [B, S]: 0 for its padding. Rows of the words' own padding are undefined.
    """
    # Without memory_efficient, masked scores become 0, which may exceed real ones.
    return masked_softmax(scores, mask[:, None], memory_efficient=True)
