"""Biattention and pooling of the biattentive classification network (McCann et al. 2017; appendix A.8)."""

import torch
from allennlp.nn.util import masked_max, masked_mean, masked_softmax, weighted_sum
from torch import Tensor, nn


def biattend(inputs: Tensor, mask: Tensor) -> Tensor:
    """
    `C = softmax(X X^T) X`, each token's summary of its text: with one text as both inputs, both sides of the
    biattention are equal. X [B, T, D] and its mask [B, T] -> [B, T, D], undefined at padding.
    """
    affinity = inputs @ inputs.transpose(1, 2)  # [B, T, T]
    # Without memory_efficient, masked scores become 0, which may exceed real ones.
    weights = masked_softmax(affinity, mask[:, None], memory_efficient=True)  # [B, T, T]
    return weighted_sum(inputs, weights)  # [B, T, D]


def compare(inputs: Tensor, attended: Tensor) -> Tensor:
    """The integrator's input `[X; X - C; X * C]`, shape [B, T, 3D], from X and C [B, T, D]."""
    return torch.cat([inputs, inputs - attended, inputs * attended], -1)


class MultiPooling(nn.Module):
    """
    A text's vector from those of its tokens, of width D: maximum, minimum, mean, and a sum weighted by self-attention.
    Unlike in AllenNLP's model, the values of padding have no effect. `dropout` is on that vector.
    """

    def __init__(self, input_dim: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.score, self.dropout = nn.Linear(input_dim, 1), nn.Dropout(dropout)

    def get_output_dim(self) -> int:
        """Width of the text's vector: 4D."""
        return 4 * self.score.in_features

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """
        Tokens [B, T, D] and their mask [B, T], at least one per text -> [B, 4D]: maximum, minimum, mean, weighted sum.
        """
        tokens = mask[:, :, None]  # [B, T, 1]
        inputs = inputs.masked_fill(~tokens, 0.0)
        weights = masked_softmax(self.score(inputs)[:, :, 0], mask, memory_efficient=True)  # [B, T]
        maximum, minimum = masked_max(inputs, tokens, dim=1), -masked_max(-inputs, tokens, dim=1)  # [B, D]
        mean = masked_mean(inputs, tokens, dim=1).to(inputs.dtype)  # [B, D], AllenNLP returns at least float32
        return self.dropout(torch.cat([maximum, minimum, mean, weighted_sum(inputs, weights)], 1))
