"""
Linear layers that oneDNN computes on a CPU, with their gradients: in float32, torch's
own product takes twice as long on AMD's processors. Losses and decoding need float32.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.packed_linear import can_pack
from elmo_tasks.bilm.precision import product_type


def at_least_float32(tensor: Tensor) -> Tensor:
    """The tensor in float32 if its type is float16 or bfloat16, else unchanged."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


FEWEST = 10_000_000
"""
Multiplications of the smallest product that oneDNN computes: it takes a while to
prepare one.
"""


class Linear(nn.Linear):
    """`nn.Linear`, computed by `linear`."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Vectors [..., K] -> [..., M]."""
        return linear(inputs, self.weight, self.bias)


def linear(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """
    `inputs @ weight.T + bias`, up to rounding, for inputs [..., K], a weight [M, K] and
    a bias [M]: [..., M].
    """
    if not _fits(inputs, weight, bias) or not _has_onednn(inputs, weight):
        return functional.linear(inputs, weight, bias)
    rows = inputs.flatten(0, -2)  # [N, K]
    if len(rows) * weight.numel() < FEWEST:
        return functional.linear(inputs, weight, bias)
    outputs: Tensor = _Linear.apply(rows, weight, bias)
    return outputs.view(*inputs.shape[:-1], len(weight))


def _fits(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    """
    Whether these are [..., K] of two axes or more, [M, K] and [M]: oneDNN takes no
    others, and torch says what is wrong with them.
    """
    if inputs.dim() < 2 or weight.dim() != 2 or inputs.shape[-1] != weight.shape[1]:
        return False
    return bias is None or bias.shape == weight.shape[:1]


def summed_products(left: Tensor, right: Tensor) -> Tensor:
    """
    [N, M] and [N, K] -> the sum over N of the outer products [M, K], as in the gradient
    of a weight; without a gradient.
    """
    enough = left.numel() * right.shape[1] >= FEWEST
    if enough and _has_onednn(left, right):
        return _product(left.t(), right.t(), None)
    return left.t() @ right


def _has_onednn(inputs: Tensor, weight: Tensor) -> bool:
    """
    Whether oneDNN has a product for these: on a CPU, in float32. Others, such as
    bfloat16, torch passes to oneDNN by itself.
    """
    if not can_pack(inputs.device, torch.float32):
        return False
    return {inputs.dtype, weight.dtype, product_type(inputs)} == {torch.float32}


def _product(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if bias is not None:
        bias = bias.contiguous()  # oneDNN reads it as if it were
    return torch.ops.mkldnn._linear_pointwise.default(
        _dense(inputs), _dense(weight), bias, "none", [], ""
    )


def _dense(matrix: Tensor) -> Tensor:
    """
    The matrix, copied if it is a part of a wider one, for which oneDNN has only a slow
    product.
    """
    if matrix.is_contiguous() or matrix.t().is_contiguous():
        return matrix
    return matrix.contiguous()


class _Linear(torch.autograd.Function):
    """`linear` of rows [N, K]."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None
    ) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return _product(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (d_outputs,) = gradients  # [N, M]
        inputs, weight = ctx.saved_tensors
        # With `create_graph=True`, the gradients have gradients: torch's products do.
        is_differentiated = torch.is_grad_enabled()
        d_inputs = d_weight = d_bias = None
        if ctx.needs_input_grad[0] and is_differentiated:
            d_inputs = d_outputs @ weight  # [N, K]
        elif ctx.needs_input_grad[0]:
            d_inputs = _product(d_outputs, weight.t(), None)
        if ctx.needs_input_grad[1] and is_differentiated:
            d_weight = d_outputs.t() @ inputs  # [M, K]
        elif ctx.needs_input_grad[1]:
            d_weight = summed_products(d_outputs, inputs)
        if ctx.needs_input_grad[2]:
            d_bias = d_outputs.sum(0)
        return d_inputs, d_weight, d_bias
