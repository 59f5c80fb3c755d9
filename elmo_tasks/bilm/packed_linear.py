"""
Matrix products with weights packed once (`packed_weight`), which saves time and memory
on a CPU.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.packed_weight import (
    Linear,
    PackedWeight,
    pack_weight,
    weight_class,
)


def packed_linear(
    weight: Tensor, bias: Tensor | None = None, *, dtype: torch.dtype | None = None
) -> Linear:
    """
    The function `inputs @ weight.T + bias`, for a weight that is constant as long as
    the function is used, in `dtype`, by default the weight's; without a gradient. The
    weight is packed now where `can_pack` says so, which takes as long as the product of
    about a hundred rows, so it pays off if the function is used for more.
    """
    dtype = dtype or weight.dtype
    if can_pack(weight.device, dtype):
        return pack_weight(weight, dtype).linear(bias)
    if bias is not None:
        bias = bias.detach()
    return _plain_linear(weight.detach(), bias, dtype)


class PackableModule(nn.Module):
    """
    Base class of layers whose weights can be packed for inference on a CPU.

    `pack` replaces the parameters named in `packable` by constant `PackedWeight`s,
    which are neither parameters nor buffers; reading such a parameter raises an error.
    `state_dict`, `load_state_dict`, copies and pickles work as before. `unpack` makes
    the weights parameters again, and so does a conversion to another device or data
    type.
    """

    packable: ClassVar[tuple[str, ...]] = ("weight",)
    _packed: Mapping[str, PackedWeight] = MappingProxyType({})

    @property
    def packed_weights(self) -> tuple[PackedWeight, ...]:
        return tuple(self._packed.values())

    def pack(self, dtype: torch.dtype) -> None:
        """
        Pack the weights, one at a time, for products in `dtype`, to which wider ones
        are rounded for good; do nothing where `can_pack` is false.
        """
        if self._packed or not can_pack(next(self.parameters()).device, dtype):
            return
        packed = {}
        for name in self.packable:
            packed[name] = pack_weight(getattr(self, name), dtype)
            self._parameters[name] = None  # keeps its place in the order
        self._packed = packed

    def unpack(self) -> None:
        """Make packed weights parameters again, without gradients."""
        packed = self._packed
        self._packed = {}
        for name, weight in packed.items():
            # Tensors that are made in inference mode can never be trained.
            with torch.inference_mode(False):
                unpacked = nn.Parameter(weight.unpack(), requires_grad=False)
            self._parameters[name] = unpacked

    def linear(
        self, name: str, bias: Tensor | None = None, *, dtype: torch.dtype, grad: bool
    ) -> Linear:
        """
        Return the function `inputs @ weight.T + bias` in `dtype` with the weight
        `name`, one of `packable`, to be used during one forward pass. `grad` is what
        `needs_grad` returns; with a packed layer, it raises `RuntimeError`.
        """
        packed = self._packed.get(name)
        if packed is not None and grad:
            raise RuntimeError(
                "weights packed for inference have no gradient: call unpack() before training"
            )
        if packed is not None and packed.dtype == dtype:
            return packed.linear(bias)
        weight = getattr(self, name) if packed is None else packed.unpack()
        if grad:
            return _plain_linear(weight, bias, dtype)
        return packed_linear(weight, bias, dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        if name in self._packed:
            raise AttributeError(
                f"{name} is packed for inference: call unpack() to make it a parameter again"
            )
        return super().__getattr__(name)

    def _save_to_state_dict(
        self, destination: Any, prefix: str, keep_vars: bool
    ) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name, weight in self._packed.items():
            destination[prefix + name] = weight.unpack()

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        dtypes = {weight.dtype for weight in self.packed_weights}
        self.unpack()
        super()._load_from_state_dict(*args, **kwargs)
        for dtype in dtypes:
            self.pack(dtype)

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        self.unpack()
        return super()._apply(*args, **kwargs)


def packable_layers(module: nn.Module) -> Iterator[PackableModule]:
    """All packable layers of a module, itself included."""
    for layer in module.modules():
        if isinstance(layer, PackableModule):
            yield layer


def needs_grad(module: nn.Module, *inputs: Tensor) -> bool:
    """
    Whether a forward pass of `module` on `inputs` may be differentiated, by a parameter
    or an input.
    """
    if not torch.is_grad_enabled():
        return False
    for tensor in (*inputs, *module.parameters()):
        if tensor.requires_grad:
            return True
    return False


def can_pack(device: torch.device, dtype: torch.dtype) -> bool:
    """
    Whether weights can be packed for products in `dtype`: on a CPU for which torch has
    oneDNN, unless disabled.
    """
    return (
        device.type == "cpu"
        and torch._C._get_mkldnn_enabled()
        and weight_class(dtype) is not None
    )


def _plain_linear(weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Linear:
    if dtype == torch.int8:
        raise RuntimeError(
            "products in 8 bits need a CPU with AVX2, torch with oneDNN, and no gradient"
        )
    flat = weight.flatten(1).to(dtype)  # [M, K]
    converted = None if bias is None else bias.to(dtype)

    def product(inputs: Tensor) -> Tensor:
        return functional.linear(inputs.to(dtype), flat, converted)

    return product
