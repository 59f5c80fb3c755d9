"""Products with weights that do not change, which a CPU computes two to three times faster once they are repacked."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.weak import WeakTensorKeyDictionary

Product = Callable[[Tensor], Tensor]
"""Inputs [N, K] -> outputs [N, M]."""


class _Packed(NamedTuple):
    """A weight in oneDNN's own order of memory, and what the weight was like when it was packed."""

    weight: Tensor
    version: int
    address: int


_packed = WeakTensorKeyDictionary()
"""For each frozen weight its packed copy, for as long as the weight lives; copies of a module pack anew."""


def product(weight: Tensor, bias: Tensor | None = None) -> Product:
    """
    `inputs @ weight.T + bias`, by oneDNN with packed weights where weight and bias are frozen float32 on a CPU.

    The plain product is taken elsewhere, where a gradient flows through the inputs, where this torch has no packed
    product, and within `torch.backends.mkldnn.flags(enabled=False)`. Both agree to rounding.

    # Parameters

    weight : `Tensor`, shape [M, ...]
        Axes after the first count as one.
    bias : `Tensor`, optional, shape [M]
    """
    flat = weight.flatten(1)  # [M, K]

    def plain(inputs: Tensor) -> Tensor:
        return functional.linear(inputs, flat, bias)

    if not _is_packable(weight) or (bias is not None and bias.requires_grad):
        return plain
    packed = _pack(weight)

    def fast(inputs: Tensor) -> Tensor:
        if inputs.requires_grad and torch.is_grad_enabled():
            return plain(inputs)
        return torch.ops.mkldnn._linear_pointwise.default(inputs, packed, bias, "none", [], "")

    return fast


def _is_packable(weight: Tensor) -> bool:
    frozen = not weight.requires_grad and not weight.is_inference()
    suited = weight.dtype == torch.float32 and weight.device.type == "cpu"
    return frozen and suited and HAS_PACKED_PRODUCT and torch._C._get_mkldnn_enabled()


def _pack(weight: Tensor) -> Tensor:
    known: _Packed | None = _packed.get(weight)
    now = (weight._version, weight.data_ptr())
    if known is None or known[1:] != now:
        known = _Packed(torch.ops.mkldnn._reorder_linear_weight.default(weight.detach().flatten(1)), *now)
        _packed[weight] = known
    return known.weight


def _has_packed_product() -> bool:
    """Whether this torch computes packed products on this machine: tried once, for torch promises nothing."""
    weight, inputs = torch.eye(16), torch.ones(2, 16)
    try:
        packed = torch.ops.mkldnn._reorder_linear_weight.default(weight)
        outputs = torch.ops.mkldnn._linear_pointwise.default(inputs, packed, None, "none", [], "")
    except (RuntimeError, AttributeError, TypeError):
        return False
    return torch.equal(outputs, inputs)


HAS_PACKED_PRODUCT = _has_packed_product()
"""Whether packed weights can be had here."""
