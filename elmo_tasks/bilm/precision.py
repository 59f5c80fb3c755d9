"""
The data types of matrix products, by the names that configs and options give them, and
which of them this machine computes itself.
"""

import logging
import platform
from functools import cache
from typing import Any, get_args

import torch
from torch import Tensor

from elmo_tasks.option_values import InferencePrecision, Precision

logger = logging.getLogger(__name__)

_EMULATED = "emulated_"


def _data_types(names: Any) -> dict[str, torch.dtype]:
    """PyTorch's data types by their names, a `Literal`."""
    found = {}
    for name in get_args(names):
        found[name] = getattr(torch, name.removeprefix(_EMULATED))
    return found


PRECISIONS = _data_types(Precision)
INFERENCE_PRECISIONS = _data_types(InferencePrecision)


def product_type(inputs: Tensor) -> torch.dtype:
    """
    The data type of matrix products with these inputs: the type of `torch.autocast` if
    it is enabled, else the type of the inputs.
    """
    device = inputs.device.type
    if torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return inputs.dtype


def precision_on(device: torch.device, precision: str) -> str:
    """
    The precision in which a device computes what was asked for. `bfloat16` becomes
    `float32` on a CPU that has no instructions for it, where it is several times
    slower.
    """
    if precision == "bfloat16" and device.type == "cpu" and not has_bfloat16():
        return "float32"
    return precision


def announced_precision(device: torch.device, precision: str) -> str:
    """
    `precision_on`, for a computation. If the precision is not the one that was asked
    for, a warning says so, once in a process; the check of a config, which makes a step
    without messages, does not count.
    """
    found = precision_on(device, precision)
    if found != precision and logger.isEnabledFor(logging.WARNING):
        _warn()
    return found


def has_bfloat16() -> bool:
    """
    Whether this CPU multiplies in bfloat16 itself: with AVX512-BF16, AMX or
    AVX-NE-CONVERT. False if an environment variable keeps torch's oneDNN from AVX-512.
    True on processors that are not x86.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True
    if torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported():
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    if not hasattr(torch.cpu, "get_capabilities"):  # an older torch
        return False
    return bool(torch.cpu.get_capabilities().get("avx_ne_convert"))


@cache
def _warn() -> None:
    logger.warning(
        "precision bfloat16 needs a CPU with AVX512-BF16, AVX-NE-CONVERT or AMX: this"
        " one computes in float32, which is faster here and is not rounded"
        " (emulated_bfloat16 insists)"
    )
