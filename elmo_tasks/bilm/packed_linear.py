"""
Matrix products with weights packed once, which saves time and memory on a CPU: in the
memory layouts in which its libraries compute, oneDNN's in float32, bfloat16 and 8 bits,
and FBGEMM's in 8 bits.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from elmo_tasks.bilm.precision import INFERENCE_PRECISIONS
from elmo_tasks.errors import InputError

Linear = Callable[[Tensor], Tensor]
"""Inputs [..., K] -> outputs [..., M]."""


_LARGEST = 127
"""The largest absolute value of 8 bits with a sign."""

_HALF = 64
"""
The same of the inputs of FBGEMM's products. AVX2 adds the products of two pairs in 16
bits, which 8 bits of the inputs would not fit into. A power of two, by which everything
is multiplied exactly.
"""

_ZERO = 128
"""What stands for 0 in 8 bits without a sign, which oneDNN wants the inputs in."""

_WIDEST = 2**16
"""Numbers of a row in 8 bits whose sum of products fits into 32 bits."""

_SMALLEST = 1e-30
"""The largest absolute value of a row of zeros, which must not divide by 0."""


class PackedWeight:
    """
    A constant weight matrix in the memory layout in which oneDNN computes.

    Axes of the weight [M, ...] after the first are flattened to K; `dtype`, float32 or
    bfloat16, is the data type of the packed values, of the products and of their
    outputs.
    """

    def __init__(self, weight: Tensor, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.output_dtype = dtype
        self._shape = weight.shape
        self._weight_dtype = weight.dtype
        flat = weight.detach().flatten(1).to(dtype)  # [M, K]
        self._packed = torch.ops.mkldnn._reorder_linear_weight.default(flat)

    def __call__(self, inputs: Tensor, bias: Tensor | None = None) -> Tensor:
        """
        `inputs @ weight.T + bias`, shape [..., M], for inputs [..., K] and a bias [M];
        without a gradient.
        """
        if bias is not None:
            bias = bias.contiguous()  # oneDNN reads it as if it were
        return torch.ops.mkldnn._linear_pointwise.default(
            inputs.to(self.dtype), self._packed, bias, "none", [], ""
        )

    def linear(self, bias: Tensor | None) -> Linear:
        """The function `inputs @ weight.T + bias` with a constant bias [M]."""
        constant = None
        if bias is not None:
            constant = bias.detach().to(self.output_dtype)

        def product(inputs: Tensor) -> Tensor:
            return self(inputs, constant)

        return product

    def unpack(self) -> Tensor:
        """
        The weight with its original shape and data type; values packed in bfloat16 come
        back rounded.
        """
        return self._packed.to_dense().to(self._weight_dtype).view(self._shape)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a constant

    def __reduce__(self) -> tuple[Any, ...]:
        return pack_weight, (self.unpack(), self.dtype)


class QuantizedWeight(PackedWeight):
    """
    A `PackedWeight` of 8-bit integers, for CPUs with AVX512-VNNI; `dtype` is int8, the
    outputs are in float32.

    Each row of the weight has a scale, its largest absolute value divided by 127, and
    so has each row of the inputs, which are rounded at every call. The sums of
    products are exact integers of 32 bits, so that the outputs for a row of inputs do
    not depend on the other rows.
    """

    def __init__(self, weight: Tensor, dtype: torch.dtype = torch.int8) -> None:
        self.dtype = dtype
        self.output_dtype = torch.float32
        self._shape = weight.shape
        self._weight_dtype = weight.dtype
        flat = weight.detach().flatten(1).float().contiguous()  # [M, K]
        if flat.shape[1] > _WIDEST:
            raise InputError(
                f"precision int8: expected rows of at most {_WIDEST:,} numbers, got"
                f" {flat.shape[1]:,}"
            )
        scales = flat.abs().amax(1).clamp(min=_SMALLEST) / _LARGEST  # [M]
        # With 16 bits of the mantissa 127 times a scale is exact, so that weights that
        # were unpacked get the same scales again.
        self._scales = (scales.view(torch.int32) & -256).view(torch.float32)
        self._packed = self._pack((flat / self._scales[:, None]).round().to(torch.int8))

    def __call__(self, inputs: Tensor, bias: Tensor | None = None) -> Tensor:
        """As that of `PackedWeight`; the outputs are in float32."""
        inputs = inputs.float()
        largest = inputs.abs().amax(-1, keepdim=True).clamp(min=_SMALLEST)  # [..., 1]
        outputs = self._product(inputs, largest)  # [..., M]
        if bias is not None:
            outputs.add_(bias)
        return outputs

    def unpack(self) -> Tensor:
        """The weight with its original shape and data type, rounded to 8 bits."""
        unpacked = self._values() * self._scales[:, None]
        return unpacked.to(self._weight_dtype).view(self._shape)

    def _pack(self, values: Tensor) -> Any:
        """Pack integers [M, K]."""
        self._ones = torch.ones(len(values))
        self._zeros = torch.zeros(len(values), dtype=torch.int32)
        return torch.ops.onednn.qlinear_prepack.default(values, None)

    def _values(self) -> Tensor:
        """The packed integers [M, K]."""
        return self._packed.to_dense().t().contiguous()

    def _product(self, inputs: Tensor, largest: Tensor) -> Tensor:
        """
        Inputs [..., K] and the largest absolute value of each row [..., 1] -> `inputs @
        weight.T` [..., M].
        """
        scaled = inputs * (_LARGEST / largest)
        rounded = scaled.add_(_ZERO + 0.5).to(torch.uint8)  # which drops the fraction
        # All scales are 1 here: oneDNN would multiply by others in another order where
        # there is a single row.
        outputs = torch.ops.onednn.qlinear_pointwise.default(
            rounded,
            1.0,
            _ZERO,
            self._packed,
            self._ones,
            self._zeros,
            None,  # bias
            1.0,  # scale and zero of the outputs
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        # oneDNN flattens the axes of empty inputs.
        outputs = outputs.view(*inputs.shape[:-1], len(self._scales))
        return outputs.mul_(self._scales).mul_(largest / _LARGEST)


class FbgemmWeight(QuantizedWeight):
    """
    A `QuantizedWeight` for CPUs with AVX2. The inputs are rounded to 7 bits and a sign,
    so that no sum of products is too large for AVX2's 16 bits.
    """

    def _pack(self, values: Tensor) -> Any:
        zeros = torch.zeros(len(values), dtype=torch.int64)
        with warnings.catch_warnings():
            # torch deprecates quantized tensors; FBGEMM has no other way in.
            warnings.simplefilter("ignore")
            quantized = torch._make_per_channel_quantized_tensor(
                values, self._scales, zeros, 0
            )
        return torch.ops.quantized.linear_prepack(quantized, None)

    def _values(self) -> Tensor:
        quantized, _ = torch.ops.quantized.linear_unpack(self._packed)
        return quantized.int_repr()

    def _product(self, inputs: Tensor, largest: Tensor) -> Tensor:
        product = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32
        scaled = torch.atleast_2d(inputs / largest)
        outputs = product.default(scaled, 1 / _HALF, _HALF, self._packed)
        return outputs.view(*inputs.shape[:-1], len(self._scales)).mul_(largest)


def pack_weight(weight: Tensor, dtype: torch.dtype) -> PackedWeight:
    """
    A weight packed for products in `dtype`, one of `INFERENCE_PRECISIONS`. Raises
    `RuntimeError` if this CPU has none.
    """
    found = weight_class(dtype)
    if found is None:
        raise RuntimeError(f"this CPU has no packed products in {dtype}")
    return found(weight, dtype)


def weight_class(dtype: torch.dtype) -> type[PackedWeight] | None:
    """The class of the weights of products in `dtype` on this CPU, if it has them."""
    for candidate in _candidates(dtype):
        if _computes(candidate, dtype):  # type: ignore[arg-type]  # a class has a hash
            return candidate
    return None


def _candidates(dtype: torch.dtype) -> list[type[PackedWeight]]:
    """The fastest first."""
    if dtype not in INFERENCE_PRECISIONS.values():
        return []
    if dtype != torch.int8:
        return [PackedWeight]
    found: list[type[PackedWeight]] = []
    if torch.cpu._is_vnni_supported():
        found.append(QuantizedWeight)
    if "fbgemm" in torch.backends.quantized.supported_engines:
        found.append(FbgemmWeight)
    return found


@cache
def _computes(candidate: type[PackedWeight], dtype: torch.dtype) -> bool:
    """
    Try it once: the operators are not part of torch's public interface. oneDNN's sums
    in 8 bits are wrong where `ONEDNN_MAX_CPU_ISA` keeps it from VNNI.
    """
    ones = torch.ones(16, 16)
    try:
        return torch.allclose(candidate(ones, dtype)(ones).float(), 16 * ones)
    except (RuntimeError, AttributeError, TypeError):
        return False


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
