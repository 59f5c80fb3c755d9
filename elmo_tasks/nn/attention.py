"""The attention layers of the SQuAD model (paper, appendix A.4)."""

import torch
from allennlp.nn.util import masked_max, masked_softmax, weighted_sum
from torch import Tensor, nn

INITIAL_NULL_SCORE = -1.0


class Trilinear(nn.Module):
    """
    The similarity `s(u, v) = w1 . u + w2 . v + (w3 * u) . v` of vectors of `width` D
    (Seo et al. 2017, equation 1), without a bias, which a softmax would cancel. The
    weights are initialized with Keras' Glorot-uniform distribution for vectors.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.left = nn.Parameter(torch.empty(width))
        self.right = nn.Parameter(torch.empty(width))
        self.product = nn.Parameter(torch.empty(width))
        bound = (3 / width**0.5) ** 0.5
        for weights in (self.left, self.right, self.product):
            nn.init.uniform_(weights, -bound, bound)

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        """
        Vectors [B, T, D] and [B, U, D] -> similarities [B, T, U]. The second ones are
        multiplied by w3, which are fewer in SQuAD, and are kept for the gradient.
        """
        products = u @ (v * self.product).transpose(1, 2)  # [B, T, U]
        return products + (u @ self.left)[:, :, None] + (v @ self.right)[:, None, :]


class BiAttention(nn.Module):
    """
    Bidirectional attention flow between a passage and a question (Seo et al. 2017,
    section 2.1, "attention flow layer"), of passage vectors `c_t` and question vectors
    `q_u` of `width` D:

        a_t = sum_u softmax_u(s(c_t, q_u)) q_u
        b = sum_t softmax_t(max_u s(c_t, q_u)) c_t

    with the similarity s of `Trilinear`: `a_t` is the question as the passage vector
    sees it, and b, the same for all t, the passage weighted by its best matches.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.similarity = Trilinear(width)

    def forward(
        self,
        passage: Tensor,
        passage_mask: Tensor,
        question: Tensor,
        question_mask: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """
        Passage [B, T, D] and question [B, U, D], each with its mask, bool -> a [B, T,
        D] and b [B, D].
        """
        scores = self.similarity(passage, question)  # [B, T, U]
        of_question = question_mask[:, None, :]  # [B, 1, U]
        over_question = masked_softmax(scores, of_question, memory_efficient=True)
        attended = weighted_sum(question, over_question)  # [B, T, D]
        best = masked_max(scores, of_question, dim=2)  # [B, T]
        over_passage = masked_softmax(best, passage_mask, memory_efficient=True)
        return attended, weighted_sum(passage, over_passage)


class SelfAttention(nn.Module):
    """
    Self-attention with a null option (Clark and Gardner 2017, section 2.2), of vectors
    `g_i` of `width` D:

        a_i = sum_j p_ij g_j
        p_ij = exp(s_ij) / (exp(b0) + sum_k exp(s_ik))

    j and k run over all tokens but i; b0 is the learned score of attending to nothing.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.similarity = Trilinear(width)
        self.null_score = nn.Parameter(torch.tensor(INITIAL_NULL_SCORE))

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """
        Vectors [B, T, D] and mask [B, T] -> [B, T, D]; zero for the only token of a
        passage.
        """
        scores = self.similarity(vectors, vectors)  # [B, T, T]
        itself = torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
        scores = scores.masked_fill(itself | ~mask[:, None, :], -torch.inf)
        null = self.null_score.expand(mask[:, :, None].shape)  # [B, T, 1]
        return torch.cat([scores, null], 2).softmax(2)[:, :, :-1] @ vectors
