"""Matrix products with weights packed once for oneDNN, which saves time and memory on a CPU."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.errors import InputError

Linear = Callable[[Tensor], Tensor]
"""Inputs [..., K] -> outputs [..., M]."""

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
"""Data types of matrix products by their names in configs."""

INFERENCE_PRECISIONS = {**PRECISIONS, "int8": torch.int8}
"""The same for weights that are packed for inference."""

NEEDED_FOR_INT8 = "a CPU with AVX512-VNNI and a torch with oneDNN"

_LEVELS, _ZERO = 127, 128
"""Largest absolute value of 8 bits with a sign, and the value that stands for 0 without one."""

_SMALLEST = 1e-30
"""Instead of a scale of 0."""


class PackedWeight:
    """
    A constant weight matrix in the memory layout in which oneDNN computes.

    Axes of the weight [M, ...] after the first are flattened to K; `dtype`, float32 or bfloat16, is the data type of
    the packed values, of the products and of their outputs.
    """

    def __init__(self, weight: Tensor, dtype: torch.dtype) -> None:
        self.dtype = self.output_dtype = dtype
        self._shape, self._weight_dtype = weight.shape, weight.dtype
        self._packed = torch.ops.mkldnn._reorder_linear_weight.default(weight.detach().flatten(1).to(dtype))

    def __call__(self, inputs: Tensor, bias: Tensor | None = None) -> Tensor:
        """`inputs @ weight.T + bias`, shape [..., M], for inputs [..., K] and a bias [M]; without a gradient."""
        return torch.ops.mkldnn._linear_pointwise.default(inputs.to(self.dtype), self._packed, bias, "none", [], "")

    def linear(self, bias: Tensor | None) -> Linear:
        """The product with this weight and a constant bias as a function."""
        constant = None if bias is None else bias.detach().to(self.output_dtype)
        return lambda inputs: self(inputs, constant)

    def unpack(self) -> Tensor:
        """The weight with its original shape and data type; values packed in bfloat16 come back rounded."""
        return self._packed.to_dense().to(self._weight_dtype).view(self._shape)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a constant

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.unpack(), self.dtype)


class QuantizedWeight(PackedWeight):
    """
    A `PackedWeight` of 8-bit integers with one scale per output; `dtype` is int8.

    Each row of the inputs is divided by its largest absolute value and rounded to 8 bits, too. Sums are exact integers
    of 32 bits, so that the outputs of a row, in float32, do not depend on the other rows.
    """

    def __init__(self, weight: Tensor, dtype: torch.dtype = torch.int8) -> None:
        self.dtype, self.output_dtype = dtype, torch.float32
        self._shape, self._weight_dtype = weight.shape, weight.dtype
        flat = weight.detach().flatten(1).float().contiguous()  # as qlinear_prepack reads it
        scales = flat.abs().amax(1).clamp_(min=_SMALLEST) / _LEVELS  # [M]
        # 16 bits of the mantissa, so that 127 times a scale is exact and unpacked weights give the same scale again.
        self._scales = (scales.view(torch.int32) & -256).view(torch.float32)
        values = (flat / self._scales[:, None]).round_().to(torch.int8)
        self._packed = torch.ops.onednn.qlinear_prepack.default(values, None)
        self._zeros, self._ones = torch.zeros(len(flat), dtype=torch.int32), torch.ones(len(flat))

    def __call__(self, inputs: Tensor, bias: Tensor | None = None) -> Tensor:
        """See `PackedWeight`; the outputs are in float32."""
        inputs = inputs.float()
        largest = inputs.abs().amax(-1, keepdim=True).clamp_(min=_SMALLEST)  # [..., 1]
        rounded = (inputs * (_LEVELS / largest)).add_(_ZERO + 0.5).to(torch.uint8)
        # oneDNN would multiply by the scales in another order for a single row.
        scales = 1.0, _ZERO, self._packed, self._ones, self._zeros
        outputs = torch.ops.onednn.qlinear_pointwise.default(
            rounded, *scales, None, 1.0, 0, torch.float32, "none", [], ""
        )
        outputs.mul_(self._scales).mul_(largest / _LEVELS)
        return outputs if bias is None else outputs.add_(bias)

    def unpack(self) -> Tensor:
        """The weight with its original shape and data type, rounded to 8 bits."""
        dense = self._packed.to_dense().t().contiguous()
        return (dense * self._scales[:, None]).to(self._weight_dtype).view(self._shape)


def pack_weight(weight: Tensor, dtype: torch.dtype) -> PackedWeight:
    """Pack a weight for products in `dtype`."""
    return (QuantizedWeight if dtype == torch.int8 else PackedWeight)(weight, dtype)


def packed_linear(weight: Tensor, bias: Tensor | None = None, *, dtype: torch.dtype | None = None) -> Linear:
    """
    Return the function `inputs @ weight.T + bias`, for a weight that is constant as long as the function is used.

    The weight is packed now where `can_pack` says so. Packing takes as long as the product of about a hundred rows,
    so it pays off if the function is used for more. No gradient reaches the weight. `dtype` is the data type of product
    and outputs, by default the weight's.
    """
    dtype = dtype or weight.dtype
    if not can_pack(weight.device, dtype):
        return _plain_linear(weight.detach(), None if bias is None else bias.detach(), dtype)
    packed = pack_weight(weight, dtype)
    return packed.linear(bias)


class PackableModule(nn.Module):
    """
    Base class of layers whose weights can be packed for inference on a CPU.

    `pack` replaces the parameters named in `packable` by constant `PackedWeight`s, which are neither parameters nor
    buffers; reading such a parameter raises an error. `state_dict`, `load_state_dict`, copies and pickles work as
    before. `unpack` makes the weights parameters again, and so does a conversion to another device or data type.
    """

    packable: ClassVar[tuple[str, ...]] = ("weight",)
    _packed: Mapping[str, PackedWeight] = MappingProxyType({})

    @property
    def packed_weights(self) -> tuple[PackedWeight, ...]:
        """The packed weights; none if the layer is not packed."""
        return tuple(self._packed.values())

    def pack(self, dtype: torch.dtype) -> None:
        """
        Pack the weights, one at a time, for products in `dtype`; do nothing where `can_pack` is false.

        Weights of a wider data type than `dtype` are rounded for good.
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
        packed, self._packed = self._packed, {}
        for name, weight in packed.items():
            with torch.inference_mode(False):  # tensors created in inference mode can never be trained
                self._parameters[name] = nn.Parameter(weight.unpack(), requires_grad=False)

    def linear(self, name: str, bias: Tensor | None = None, *, dtype: torch.dtype, grad: bool) -> Linear:
        """
        Return the function `inputs @ weight.T + bias` in `dtype` with the weight `name`, one of `packable`, to be used
        during one forward pass. `grad` is what `needs_grad` returns; with a packed layer, it raises `RuntimeError`.
        """
        packed = self._packed.get(name)
        if packed is not None and grad:
            raise _no_gradient()
        if packed is not None and packed.dtype == dtype:
            return packed.linear(bias)
        weight = getattr(self, name) if packed is None else packed.unpack()
        return _plain_linear(weight, bias, dtype) if grad else packed_linear(weight, bias, dtype=dtype)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Raises `RuntimeError` if a packed layer is asked for gradients."""
        if requires_grad and self._packed:
            raise _no_gradient()
        return super().requires_grad_(requires_grad)

    def __getattr__(self, name: str) -> Any:
        if name in self._packed:
            raise AttributeError(f"{name} is packed for inference: call unpack() to make it a parameter again")
        return super().__getattr__(name)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination.update((prefix + name, weight.unpack()) for name, weight in self._packed.items())

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
    return (layer for layer in module.modules() if isinstance(layer, PackableModule))


def needs_grad(module: nn.Module, *inputs: Tensor) -> bool:
    """Whether a forward pass of `module` on `inputs` may be differentiated, by a parameter or an input."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (*inputs, *module.parameters()))


def can_pack(device: torch.device, dtype: torch.dtype) -> bool:
    """Whether weights can be packed for products in `dtype`: on a CPU for which torch has oneDNN, unless disabled."""
    return device.type == "cpu" and torch._C._get_mkldnn_enabled() and _has_packed_linear(dtype)


@cache
def _has_packed_linear(dtype: torch.dtype) -> bool:
    """Try it once: the operators are not part of torch's public interface."""
    if dtype not in INFERENCE_PRECISIONS.values() or (dtype == torch.int8 and not torch.cpu._is_vnni_supported()):
        return False
    weight = torch.ones(16, 16)
    try:
        return torch.allclose(pack_weight(weight, dtype)(weight).float(), 16 * weight)
    except (RuntimeError, AttributeError, TypeError):
        return False


def _plain_linear(weight: Tensor, bias: Tensor | None, dtype: torch.dtype) -> Linear:
    if dtype == torch.int8:
        raise InputError(f"precision int8 needs {NEEDED_FOR_INT8}, and has no gradient")
    flat, bias = weight.flatten(1).to(dtype), None if bias is None else bias.to(dtype)
    return lambda inputs: functional.linear(inputs.to(dtype), flat, bias)


def _no_gradient() -> RuntimeError:
    return RuntimeError("weights packed for inference have no gradient: call unpack() before training")
