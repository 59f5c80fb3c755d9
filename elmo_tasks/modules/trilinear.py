"""The similarity of BiDAF's attention (Seo et al. 2017, equation 1)."""

import torch
from torch import Tensor, nn


class Trilinear(nn.Module):
    """
    `s(u, v) = w1 . u + w2 . v + (w3 * u) . v` for all pairs of rows of u and v, without a bias, which a softmax would
    cancel. The weights are initialized with Keras' Glorot-uniform distribution for vectors.

    # Parameters

    width : `int`
        Width of the vectors (D).
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.left, self.right, self.product = (nn.Parameter(torch.empty(width)) for _ in range(3))
        bound = (3 / width**0.5) ** 0.5
        for weights in (self.left, self.right, self.product):
            nn.init.uniform_(weights, -bound, bound)

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        """
        # Parameters

        u : `Tensor`, shape [B, T, D]
        v : `Tensor`, shape [B, U, D]

        # Returns

        `Tensor`, shape [B, T, U]
        """
        products = (u * self.product) @ v.transpose(1, 2)  # [B, T, U]
        return products + (u @ self.left)[:, :, None] + (v @ self.right)[:, None, :]
