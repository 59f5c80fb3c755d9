"""Self-attention of a passage with a null option (Clark and Gardner 2017, section 2.2)."""

import torch
from torch import Tensor, nn

from elmo_tasks.modules.trilinear import Trilinear

INITIAL_NULL_SCORE = -1.0


class SelfAttention(nn.Module):
    """
    `a_i = sum_j p_ij g_j` with `p_ij = exp(s_ij) / (exp(b0) + sum_k exp(s_ik))`, j and k over all tokens but i, and b0
    the learned score of attending to nothing.

    # Parameters

    width : `int`
        Width of the vectors (D).
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.similarity = Trilinear(width)
        self.null_score = nn.Parameter(torch.tensor(INITIAL_NULL_SCORE))

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """
        # Parameters

        vectors : `Tensor`, shape [B, T, D]
        mask : `Tensor`, bool, shape [B, T]

        # Returns

        `Tensor`, shape [B, T, D]; zero for the only token of a passage.
        """
        scores = self.similarity(vectors, vectors)  # [B, T, T]
        itself = torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
        scores = scores.masked_fill(itself | ~mask[:, None, :], -torch.inf)
        null = self.null_score.expand(*mask.shape, 1)  # [B, T, 1]
        weights = torch.cat([scores, null], 2).softmax(2)[:, :, :-1]  # [B, T, T]
        return weights @ vectors
