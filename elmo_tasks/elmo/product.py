"""Products with weights that do not change, which a CPU computes two to three times faster once they are repacked."""

import threading
from collections.abc import Callable, Iterable
from functools import cache
from math import nan
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.weak import WeakTensorKeyDictionary

Product = Callable[[Tensor], Tensor]
"""Inputs [N, K] -> outputs [N, M]."""

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
"""Types of matrix products, by the names that they have in configs."""

_PACKABLE = (torch.float32, torch.bfloat16)


class _Copy(NamedTuple):
    """A frozen weight in another type or order of memory, and what the weight was like when the copy was made."""

    weight: Tensor
    version: int
    address: int
    is_sole: bool = False
    """Whether the weight itself is NaN, and this copy all that is left of it."""


_copies = WeakTensorKeyDictionary()
"""For each frozen weight its copies by type, for as long as the weight lives; copies of a module begin anew."""

LOCK = threading.RLock()
"""Of all copies: a weight is given up, restored or read by one thread at a time."""


def product(weight: Tensor, bias: Tensor | None = None, *, dtype: torch.dtype | None = None) -> Product:
    """
    `inputs @ weight.T + bias`, computed and given in `dtype`; by oneDNN with packed weights on a CPU that has it for
    this type, where weight and bias are frozen.

    The plain product is taken elsewhere, where a gradient flows through the inputs, where this torch has no packed
    product, and within `torch.backends.mkldnn.flags(enabled=False)`. Both agree to rounding. Of frozen weights in
    another type than `dtype` one copy in that type is kept. A weight that `keep_packed` gave up is restored where its
    packed copy is not enough.

    # Parameters

    weight : `Tensor`, shape [M, ...]
        Axes after the first count as one.
    bias : `Tensor`, optional, shape [M]
    dtype : `torch.dtype`, optional
        By default the weight's.
    """
    dtype = dtype or weight.dtype
    bias = None if bias is None else bias.to(dtype)
    frozen = _is_frozen(weight) and not (bias is not None and bias.requires_grad)
    if frozen and _packs(weight.device, dtype):
        return _packed_product(weight, bias, dtype)
    flat = _copy(weight, dtype, packed=False) if frozen and dtype != weight.dtype else restored(weight).to(dtype)
    flat = flat.flatten(1)
    return lambda inputs: functional.linear(inputs.to(dtype), flat, bias)


def keep_packed(weight: Tensor, dtype: torch.dtype) -> None:
    """
    Gives up a frozen weight's own memory for its packed copy in `dtype`, where `product` would make one.

    The tensor keeps its identity and shape; whoever reads it otherwise than by `product` finds NaN.

    # Parameters

    weight : `Tensor`, shape [M, K]
    dtype : `torch.dtype`
        As for `product`. A weight in a wider type is rounded to it for good.
    """
    with LOCK:
        if _is_given_up(weight) or not (_is_frozen(weight) and _packs(weight.device, dtype)):
            return
        packed = _copy(weight, dtype, packed=True)
        with torch.inference_mode(False):  # what is made in that mode could never learn
            weight.data = weight.new_full((), nan).expand(weight.shape)
        _copies[weight] = {(dtype, True): _Copy(packed, weight._version, weight.data_ptr(), is_sole=True)}


def restore(weight: Tensor) -> None:
    """
    Gives a weight that `keep_packed` gave up its memory and numbers again; does nothing to others.

    # Raises

    `RuntimeError` where the weight was written to in place while it had none.
    """
    with LOCK:
        if not _is_given_up(weight):
            return
        ((_, packed),) = _copies.pop(weight).items()
        is_written = weight._version != packed.version
        with torch.inference_mode(False):
            weight.data = packed.weight.to_dense().to(weight.dtype)
    if is_written:
        raise RuntimeError("a weight was changed in place while its packed copy alone was held: restore it before")


def restored(weight: Tensor) -> Tensor:
    """The weight with its numbers, for a gradient, too: where it is frozen, giving it up later does not touch them."""
    with LOCK:
        restore(weight)
        return weight if weight.requires_grad else weight.detach()


def _is_given_up(weight: Tensor) -> bool:
    copies: Iterable[_Copy] = _copies.get(weight, {}).values()
    return any(copy.is_sole and copy.address == weight.data_ptr() for copy in copies)


def _is_frozen(weight: Tensor) -> bool:
    return not (weight.requires_grad or weight.is_inference())


def _packed_product(weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Product:
    packed = _copy(weight, dtype, packed=True)

    def fast(inputs: Tensor) -> Tensor:
        if inputs.requires_grad and torch.is_grad_enabled():
            return functional.linear(inputs.to(dtype), restored(weight).to(dtype).flatten(1), bias)
        return torch.ops.mkldnn._linear_pointwise.default(inputs.to(dtype), packed, bias, "none", [], "")

    return fast


def _packs(device: torch.device, dtype: torch.dtype) -> bool:
    return device.type == "cpu" and torch._C._get_mkldnn_enabled() and has_packed_product(dtype)


def _copy(weight: Tensor, dtype: torch.dtype, *, packed: bool) -> Tensor:
    with LOCK:
        known: _Copy | None = _copies.setdefault(weight, {}).get((dtype, packed))
        if known is None or (known.version, known.address) != (weight._version, weight.data_ptr()):
            restore(weight)
            with torch.inference_mode(False):
                made = _pack(weight, dtype) if packed else weight.detach().to(dtype)
            known = _Copy(made, weight._version, weight.data_ptr())
            _copies.setdefault(weight, {})[dtype, packed] = known
        return known.weight


def _pack(weight: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.ops.mkldnn._reorder_linear_weight.default(weight.detach().flatten(1).to(dtype))


@cache
def has_packed_product(dtype: torch.dtype) -> bool:
    """Whether this torch computes packed products of this type here: tried once, for torch promises nothing."""
    if dtype not in _PACKABLE:
        return False
    weight, inputs = torch.eye(16, dtype=dtype), torch.ones(2, 16, dtype=dtype)
    try:
        packed = torch.ops.mkldnn._reorder_linear_weight.default(weight)
        outputs = torch.ops.mkldnn._linear_pointwise.default(inputs, packed, None, "none", [], "")
    except (RuntimeError, AttributeError, TypeError):
        return False
    return torch.equal(outputs, inputs)
