"""The middle of the biattentive classification network: biattention and poolings (McCann et al. 2017, appendix A.8)."""

import torch
from allennlp.nn.util import masked_max, masked_mean, masked_softmax, weighted_sum
from torch import Tensor, nn


def biattend(inputs: Tensor, mask: Tensor) -> Tensor:
    """
    Each token's summary of its text, `C = softmax(X X^T) X`: with one text in place of two, the biattention of both
    sides is the same.

    # Parameters

    inputs : `Tensor`, shape [B, T, D]
    mask : `Tensor`, bool, shape [B, T]

    # Returns

    `Tensor`, shape [B, T, D]; without meaning where there is no token.
    """
    affinity = inputs @ inputs.transpose(1, 2)  # [B, T, T]
    # The other form of the masked softmax multiplies by the mask, so that masked scores of 0 could outgrow real ones.
    weights = masked_softmax(affinity, mask[:, None], memory_efficient=True)  # [B, T, T]
    return weighted_sum(inputs, weights)  # [B, T, D]


def compare(inputs: Tensor, attended: Tensor) -> Tensor:
    """What the integrator reads: `[X; X - C; X * C]`, shape [B, T, 3D], from X and C [B, T, D]."""
    return torch.cat([inputs, inputs - attended, inputs * attended], -1)  # [B, T, 3D]


class MultiPooling(nn.Module):
    """
    A text's vector from those of its tokens: their maximum, minimum, mean, and a sum weighted by self-attention.

    AllenNLP's model divides by the number of tokens what it has summed over all places, and so relies on zeros in the
    padding; here nothing depends on what stands there.

    # Parameters

    input_dim : `int`
        Width of the tokens' vectors (D).
    """

    def __init__(self, input_dim: int) -> None:
        super().__init__()
        self.score = nn.Linear(input_dim, 1)

    def get_output_dim(self) -> int:
        """Width of the text's vector: 4D."""
        return 4 * self.score.in_features

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """
        # Parameters

        inputs : `Tensor`, shape [B, T, D]
        mask : `Tensor`, bool, shape [B, T]
            At least one token a text.

        # Returns

        `Tensor`, shape [B, 4D]: maximum, minimum, mean, weighted sum.
        """
        tokens = mask[:, :, None]  # [B, T, 1]
        inputs = inputs.masked_fill(~tokens, 0.0)
        weights = masked_softmax(self.score(inputs)[:, :, 0], mask, memory_efficient=True)  # [B, T]
        greatest, least = masked_max(inputs, tokens, dim=1), -masked_max(-inputs, tokens, dim=1)  # [B, D]
        mean = masked_mean(inputs, tokens, dim=1).to(inputs.dtype)  # [B, D], AllenNLP gives float32 at least
        return torch.cat([greatest, least, mean, weighted_sum(inputs, weights)], 1)
