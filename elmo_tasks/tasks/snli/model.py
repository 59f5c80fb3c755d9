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

from elmo_tasks.bilm.characters import fit_slots
from elmo_tasks.nn.elmo_indexer import KEY
from elmo_tasks.nn.initialization import glorot
from elmo_tasks.nn.input_encoder import InputEncoder, LazyEncoder, construct
from elmo_tasks.nn.precision import at_least_float32
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

    All layers up to the pooling process premises and hypotheses as one batch of 2B
    sentences, the B premises first.

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
        self.projection = glorot(nn.Linear(width, hidden_size))
        self.composition = construct(composition, hidden_size)
        self.labels = complete_labels(vocab, LABELS)
        self.classifier = nn.Sequential(
            nn.Dropout(dropout),
            glorot(nn.Linear(4 * self.composition.get_output_dim(), hidden_size)),
            nn.ReLU(),
            nn.Dropout(dropout),
            glorot(nn.Linear(hidden_size, len(self.labels))),
        )

    def score(
        self, premise: TextFieldTensors, hypothesis: TextFieldTensors, **_: Any
    ) -> dict[str, Tensor]:
        """
        `logits` [B, 3] of B sentences each, and `attention` [2B, T, T] of each word
        over the words of the other sentence, premises first.
        """
        h, _, mask = self.input_encoder(stack(premise, hypothesis))  # [2B, T, D]
        attended, attention = attend(h, mask)  # [2B, T, D], [2B, T, T]
        # Chen et al. (2017), equations 14 and 15
        enhanced = torch.cat([h, attended, h - attended, h * attended], -1)
        enhanced = self.attention_dropout(enhanced)  # [2B, T, 4D]
        projected = self.projection(enhanced).relu()  # [2B, T, H]
        composed = self.composition(projected, mask)  # [2B, T, 2H]
        logits = at_least_float32(self.classifier(pool_pairs(composed, mask)))  # [B, 3]
        return {"logits": logits, "attention": at_least_float32(attention)}

    @overrides
    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        See `Classifier`; removes padding from the attention: `premise_attention` has a
        row of weights over the hypothesis for each word of the premise,
        `hypothesis_attention` the reverse.
        """
        over_hypothesis, over_premise = output_dict.pop("attention").chunk(2)
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


def stack(premise: TextFieldTensors, hypothesis: TextFieldTensors) -> TextFieldTensors:
    """
    One text field of 2B sentences, padded to the longest: the B premises, then the B
    hypotheses.
    """
    stacked: TextFieldTensors = {}
    for key, tensors in premise.items():
        stacked[key] = {}
        for name, tensor in tensors.items():
            other = hypothesis[key][name]
            stacked[key][name] = _stack_tensors(name, tensor, other)
    return stacked


def _stack_tensors(name: str, first: Tensor, second: Tensor) -> Tensor:
    if name == KEY:  # zeros in a word's slots would be characters
        slots = max(first.shape[2], second.shape[2])
        first = fit_slots(first, slots)
        second = fit_slots(second, slots)
    sizes = [len(first) + len(second)]
    for axis in range(1, first.dim()):
        sizes.append(max(first.shape[axis], second.shape[axis]))
    stacked = first.new_zeros(sizes)  # [2B, T, ...]
    _fill(stacked[: len(first)], first)
    _fill(stacked[len(first) :], second)
    return stacked


def _fill(rows: Tensor, tensor: Tensor) -> None:
    """Copies a tensor into the first places of a larger one."""
    for axis, size in enumerate(tensor.shape):
        rows = rows.narrow(axis, 0, size)
    rows.copy_(tensor)


def attend(h: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """
    Dot-product attention of each word to the other sentence (Chen et al. 2017,
    equations 11 to 13). h [2B, T, D] and its mask [2B, T] are of B sentences, then of
    the B sentences paired with them. Returns the weighted sums [2B, T, D] and the
    weights [2B, T, T], which are 0 for padding; rows of padding are undefined.
    """
    half = len(h) // 2
    other = h.roll(half, 0)  # [2B, T, D]: the two halves swapped
    other_mask = mask.roll(half, 0)[:, None]  # [2B, 1, T]
    scores = h @ other.transpose(1, 2)  # [2B, T, T]
    # Without memory_efficient, masked scores become 0, which may exceed real ones.
    weights = masked_softmax(scores, other_mask, memory_efficient=True)
    return weights @ other, weights


def pool_pairs(composed: Tensor, mask: Tensor) -> Tensor:
    """
    Averages and maxima over the words of both sentences (Chen et al. 2017, equations 18
    to 20): [2B, T, D] and its mask [2B, T] -> [B, 4D], the premise's average and
    maximum, then the hypothesis's.
    """
    words = mask[:, :, None]
    mean = masked_mean(composed, words, 1)  # [2B, D], at least float32
    mean = mean.to(composed.dtype)
    pooled = torch.cat([mean, masked_max(composed, words, 1)], -1)  # [2B, 2D]
    return torch.cat(pooled.chunk(2), -1)  # [B, 4D]
