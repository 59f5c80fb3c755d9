"""
A GPU that is not there. Its tensors say that they are on the device `pretend:0`, and
compute on the CPU; where one meets a tensor of the CPU, it raises an error, as CUDA
does.

PyTorch reserves the dispatch key PrivateUse1 for devices of others. Every operator on a
`PretendTensor` comes to `compute`. `on_pretended_gpu` and `in_place_of_cuda` are the
ways in; `register` must have been called before the first backward pass of the process,
which starts the threads of all devices.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import pytest
import torch
from allennlp.nn import util as nn_util
from torch import Tensor
from torch.cuda import amp
from torch.utils import backend_registration
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

NAME = "pretend"
DEVICE_KEY, AUTOCAST_KEY = "PrivateUse1", "AutocastPrivateUse1"
SETUP = "_setup_privateuseone_for_python_backend"


MISSING = f"no pretended GPU: PyTorch has no {SETUP} before 2.13, or there is CUDA"


def available() -> bool:
    return hasattr(backend_registration, SETUP) and not torch.cuda.is_available()


aten = torch.ops.aten

TRANSFERS = (aten._to_copy.default, aten.copy_.default)
"""Operators that move numbers between devices."""

INDEXING = (
    aten.index.Tensor,
    aten.index_put.default,
    aten.index_put_.default,
    aten._index_put_impl_.default,
)

TAKE_INDICES_OF_THE_CPU = INDEXING + (
    aten._pack_padded_sequence.default,
    aten._pack_padded_sequence_backward.default,
)
"""Operators whose indices or lengths may be on the CPU with CUDA, too."""


class PretendTensor(Tensor):
    """A tensor on the device. Its numbers are those of `raw`, a tensor of the CPU."""

    raw: Tensor

    @staticmethod
    def __new__(cls, raw: Tensor) -> "PretendTensor":
        # PyTorch gives the results of views a version, which those of inference mode
        # lack.
        with torch.inference_mode(False):
            made: PretendTensor = Tensor._make_wrapper_subclass(
                cls,
                raw.size(),
                strides=raw.stride(),
                storage_offset=raw.storage_offset(),
                dtype=raw.dtype,
                device=torch.device(NAME, 0),
                requires_grad=raw.requires_grad,
            )
        made.raw = raw
        return made

    def __repr__(self, **_: Any) -> str:
        return f"PretendTensor({self.raw!r})"

    @property
    def is_cuda(self) -> bool:
        """By this AllenNLP finds the device of a model."""
        return True

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A file has the numbers, which are read as a tensor of the CPU."""
        return self.raw.__reduce_ex__(protocol)

    def tolist(self) -> Any:
        """As of a tensor on CUDA; PyTorch does not do it for subclasses."""
        return self.raw.tolist()

    @classmethod
    def __torch_dispatch__(
        cls, operator: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return compute(operator, args, kwargs or {})


class Factories(TorchDispatchMode):
    """Computes operators that make a tensor on the device from none that is there."""

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        named = kwargs or {}
        if is_ours(named.get("device")):
            return compute(operator, args, named)
        return operator(*args, **named)


def is_ours(device: Any) -> bool:
    return device is not None and torch.device(device).type == NAME


def compute(operator: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of an operator, on the device that it would have with CUDA."""
    given = tensors_in(args) + tensors_in(kwargs.values())
    require_one_device(operator, given)
    target = kwargs.get("device")
    stays = target is None or is_ours(target)
    if operator is aten.copy_.default:
        stays = isinstance(args[0], PretendTensor)
    plain = {name: value for name, value in kwargs.items() if name != "pin_memory"}
    run = OWN.get(operator, operator)
    result = run(*mapped(args, unwrapped), **mapped(plain, unwrapped))
    if torch.Tag.inplace_view in operator.tags:
        with no_dispatch():  # the shape of the tensor itself, beside that of `raw`
            operator(*args, **kwargs)
    if operator is aten._local_scalar_dense.default or not stays:
        return result
    if operator is aten._pack_padded_sequence.default:
        return wrapped(result[0], given), result[1]  # the batch sizes are on the CPU
    return mapped(result, partial(wrapped, given=given))


def require_one_device(operator: Any, given: list[Tensor]) -> None:
    """Raises `RuntimeError` as CUDA does; a number of the CPU goes with everything."""
    if operator in TRANSFERS or operator in TAKE_INDICES_OF_THE_CPU:
        return
    ours = [one for one in given if isinstance(one, PretendTensor)]
    others = [one for one in given if not isinstance(one, PretendTensor) and one.dim()]
    if ours and others:
        shapes = [tuple(one.shape) for one in others]
        raise RuntimeError(
            f"{operator}: expected all tensors to be on the same device, but found at"
            f" least two devices, {NAME}:0 and cpu (of shapes {shapes})"
        )


def wrapped(value: Any, given: list[Tensor]) -> Any:
    """A result on the device; that of an operator in place is its argument."""
    if not isinstance(value, Tensor):
        return value
    for one in given:
        if isinstance(one, PretendTensor) and one.raw is value:
            return one
    return PretendTensor(value)


def unwrapped(value: Any) -> Any:
    """For the CPU: the numbers of a tensor, and the CPU in place of the device."""
    if isinstance(value, PretendTensor):
        return value.raw
    if isinstance(value, torch.device) and is_ours(value):
        return torch.device("cpu")
    return value


def tensors_in(values: Iterable[Any]) -> list[Tensor]:
    """Those among the values, and in their lists and tuples."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += tensors_in(value)
    return found


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """
    The value with `function` applied to everything in its lists, tuples and
    dictionaries.
    """
    if isinstance(value, list | tuple):
        return type(value)([mapped(part, function) for part in value])
    if isinstance(value, dict):
        return {key: mapped(part, function) for key, part in value.items()}
    return function(value)


def lstm_cell(
    inputs: Tensor,
    hidden: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`_thnn_fused_lstm_cell`: h, c and the gates."""
    gates = inputs + hidden
    if input_bias is not None and hidden_bias is not None:
        gates = gates + input_bias + hidden_bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    gates: Tensor,
    has_bias: bool,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """`_thnn_fused_lstm_cell_backward_impl`: the gradients of gates, c and bias."""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    i, f, g, o = gates.chunk(4, 1)
    grad_c, grad_o = torch.zeros_like(cy), torch.zeros_like(cy)
    if grad_cy is not None:
        grad_c = grad_c + grad_cy
    if grad_hy is not None:
        grad_c = grad_c + grad_hy * o * (1 - cy.tanh() ** 2)
        grad_o = grad_hy * cy.tanh()
    grad_gates = torch.cat(
        [
            grad_c * g * i * (1 - i),
            grad_c * cx * f * (1 - f),
            grad_c * i * (1 - g**2),
            grad_o * o * (1 - o),
        ],
        1,
    )
    return grad_gates, grad_c * f, grad_gates.sum(0) if has_bias else None


def gru_cell(
    inputs: Tensor,
    hidden: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """`_thnn_fused_gru_cell`: h, and what the backward pass needs."""
    if input_bias is not None and hidden_bias is not None:
        inputs = inputs + input_bias
        hidden = hidden + hidden_bias
    input_r, input_z, input_n = inputs.chunk(3, 1)
    hidden_r, hidden_z, hidden_n = hidden.chunk(3, 1)
    r = (input_r + hidden_r).sigmoid()
    z = (input_z + hidden_z).sigmoid()
    n = (input_n + r * hidden_n).tanh()
    return n + z * (hx - n), torch.cat([r, z, n, hx, hidden_n], 1)


def gru_cell_backward(grad_hy: Tensor, saved: Tensor, has_bias: bool) -> Any:
    """
    `_thnn_fused_gru_cell_backward`: the gradients of both gates, h and both biases.
    """
    r, z, n, hx, hidden_n = saved.chunk(5, 1)
    grad_n = grad_hy * (1 - z) * (1 - n**2)
    grad_z = grad_hy * (hx - n) * z * (1 - z)
    grad_r = grad_n * hidden_n * r * (1 - r)
    inputs = torch.cat([grad_r, grad_z, grad_n], 1)
    hidden = torch.cat([grad_r, grad_z, grad_n * r], 1)
    if not has_bias:
        return inputs, hidden, grad_hy * z, None, None
    return inputs, hidden, grad_hy * z, inputs.sum(0), hidden.sum(0)


def dropout(values: Tensor, probability: float, training: bool | None) -> Any:
    """`native_dropout`, which draws the same numbers as dropout on the CPU does."""
    if training is False or probability == 0.0:
        return values, torch.ones_like(values, dtype=torch.bool)
    kept = 1.0 - probability
    noise = torch.empty_like(values).bernoulli_(kept)
    mask = noise.bool()
    if kept > 0.0:
        noise = noise / kept
    return values * noise, mask


OWN = {
    aten.native_dropout.default: dropout,
    aten._thnn_fused_lstm_cell.default: lstm_cell,
    aten._thnn_fused_lstm_cell_backward_impl.default: lstm_cell_backward,
    aten._thnn_fused_gru_cell.default: gru_cell,
    aten._thnn_fused_gru_cell_backward.default: gru_cell_backward,
}
"""Operators that PyTorch calls on a GPU, and a CPU lacks or computes otherwise."""

IN_LOW_PRECISION = (
    aten.linear.default,
    aten.matmul.default,
    aten.mm.default,
    aten.bmm.default,
    aten.addmm.default,
    aten.baddbmm.default,
    aten.conv1d.default,
    aten.conv2d.default,
    aten._thnn_fused_lstm_cell.default,
    aten._thnn_fused_gru_cell.default,
)
IN_FLOAT32 = (
    aten.softmax.int,
    aten.log_softmax.int,
    aten.layer_norm.default,
    aten.cross_entropy_loss.default,
    aten.nll_loss.default,
    aten.exp.default,
    aten.log.default,
    aten.pow.Tensor_Scalar,
    aten.sum.default,
    aten.sum.dim_IntList,
    aten.norm.ScalarOpt_dim,
    aten.logsumexp.default,
    aten.rsqrt.default,
)
"""The part of CUDA's lists for autocast that the models meet."""


def autocast(operator: Any, low: bool, *args: Any, **kwargs: Any) -> Any:
    """Casts the tensors of the device, and computes without a further cast."""
    dtype = torch.get_autocast_dtype(NAME) if low else torch.float32

    def cast(value: Any) -> Any:
        if isinstance(value, PretendTensor) and value.is_floating_point():
            return value.to(dtype)
        return value

    with torch._C._ExcludeDispatchKeyGuard(
        torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
    ):
        return operator(*mapped(args, cast), **mapped(kwargs, cast))


class Module(backend_registration._DummyBackendModule):
    """`torch.pretend`."""

    @staticmethod
    def get_amp_supported_dtype() -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]

    @staticmethod
    def synchronize(device: Any = None) -> None: ...


def empty(size: Any, **options: Any) -> Tensor:
    options.pop("device", None)
    options.pop("pin_memory", None)
    return PretendTensor(torch.empty(size, **options))


def empty_strided(size: Any, stride: Any, **options: Any) -> Tensor:
    options.pop("device", None)
    options.pop("pin_memory", None)
    return PretendTensor(torch.empty_strided(size, stride, **options))


def copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    """What PyTorch's own functions call, such as `torch.tensor` with a device."""
    unwrapped(target).copy_(unwrapped(source))
    return target


@cache
def register() -> list[torch.library.Library]:
    """
    Registers the device, once in a process; the libraries end with what is returned.
    """
    getattr(backend_registration, SETUP)(NAME, Module())
    kernels = torch.library.Library("aten", "IMPL")
    kernels.impl("empty.memory_format", empty, DEVICE_KEY)
    kernels.impl("empty_strided", empty_strided, DEVICE_KEY)
    kernels.impl("_copy_from", copy_from, DEVICE_KEY)
    for operators, low in ((IN_LOW_PRECISION, True), (IN_FLOAT32, False)):
        for operator in operators:
            kernels.impl(operator, partial(autocast, operator, low), AUTOCAST_KEY)
    others = torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, AUTOCAST_KEY)
    return [kernels, others]


@contextmanager
def on_pretended_gpu() -> Iterator[torch.device]:
    """The device, which is there within the context."""
    register()
    with Factories():
        yield torch.device(NAME, 0)


@contextmanager
def in_place_of_cuda() -> Iterator[torch.device]:
    """`on_pretended_gpu`, where AllenNLP takes the device for GPU 0."""
    scaler = partial(torch.amp.GradScaler, NAME, init_scale=256.0)

    def count() -> int:
        return 1

    def to_device(module: torch.nn.Module, _: Any) -> torch.nn.Module:
        return module.to(device)

    def half(enabled: bool) -> torch.autocast:
        return torch.autocast(NAME, torch.float16, enabled=enabled)

    def place_of_archive(_: Any) -> str:
        return "cpu"

    with on_pretended_gpu() as device, pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch.cuda, "device_count", count)
        patched.setattr(torch.nn.Module, "cuda", to_device)
        patched.setattr(amp, "GradScaler", scaler)
        patched.setattr(amp, "autocast", half)
        patched.setattr(nn_util, "device_mapping", place_of_archive)
        yield device
