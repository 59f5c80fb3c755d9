"""Bidirectional attention flow between a passage and a question (Seo et al. 2017; paper, appendix A.4)."""

import torch
from allennlp.nn.util import masked_max, masked_softmax, weighted_sum
from torch import Tensor, nn

from elmo_tasks.modules.trilinear import Trilinear


class BiAttention(nn.Module):
    """
    `[c; c2q; c * c2q; c * q2c]` for each passage vector c: c2q is c's attention to the question, and q2c, the same for
    the whole passage, the mean of the passage weighted by each vector's best match in the question.

    # Parameters

    width : `int`
        Width of the vectors (D).
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.similarity = Trilinear(width)

    def forward(self, passage: Tensor, passage_mask: Tensor, question: Tensor, question_mask: Tensor) -> Tensor:
        """
        # Parameters

        passage : `Tensor`, shape [B, T, D]
        passage_mask : `Tensor`, bool, shape [B, T]
        question : `Tensor`, shape [B, U, D]
        question_mask : `Tensor`, bool, shape [B, U]

        # Returns

        `Tensor`, shape [B, T, 4D]
        """
        scores = self.similarity(passage, question)  # [B, T, U]
        over_question = masked_softmax(scores, question_mask[:, None, :], memory_efficient=True)  # [B, T, U]
        c2q = weighted_sum(question, over_question)  # [B, T, D]
        best = masked_max(scores, question_mask[:, None, :], dim=2)  # [B, T]
        over_passage = masked_softmax(best, passage_mask, memory_efficient=True)  # [B, T]
        q2c = weighted_sum(passage, over_passage)[:, None, :]  # [B, 1, D]
        return torch.cat([passage, c2q, passage * c2q, passage * q2c], -1)
