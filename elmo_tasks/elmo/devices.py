"""
The device on which layers and task models are computed: the one place that decides what
`auto` is.
"""

import logging
import platform
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.bilm.packed_linear import QuantizedWeight, can_pack, weight_class
from elmo_tasks.bilm.precision import has_bfloat16
from elmo_tasks.errors import InputError, shown

AUTO = "auto"

_HINT = "the installed PyTorch can use no other device of this machine"

_UNITS = (
    "avx2",
    "avx_vnni",
    "avx_ne_convert",
    "avx512_f",
    "avx512_vnni",
    "avx512_bf16",
    "amx_int8",
    "amx_bf16",
    "neon",
    "sve",
)
"""What torch calls vector instructions."""

logger = logging.getLogger(__name__)


def opened_device(chosen: str | int | torch.device | None) -> torch.device:
    """
    A device such as `cpu` or `cuda:0`, a GPU's number, or for `auto` or `None` the best
    one there is. Raises `InputError` if this machine has no such device.
    """
    if chosen is None or (isinstance(chosen, str) and chosen == AUTO):
        return best_device()
    found = None
    # of another type, a name, an absent one, and of a number that is too large
    with suppress(TypeError, RuntimeError, AssertionError, ValueError, ImportError):
        found = torch.empty(0, device=chosen).device
    if found is None or found.type == "meta":  # which has no values
        names = " or ".join([AUTO, *devices_here()])
        raise InputError(f"device: expected {names}, got {shown(chosen)}", hint=_HINT)
    return found


def devices_here() -> list[str]:
    """The names of this machine's devices that the installed PyTorch can use."""
    names = ["cpu"]
    for number in range(torch.cuda.device_count()):
        names.append(f"cuda:{number}")
    if torch.backends.mps.is_available():
        names.append("mps")
    return names


def best_device() -> torch.device:
    """
    CUDA's current device, else the CPU; logged once. Apple's GPU, which nobody has
    tried, must be named.
    """
    name = "cpu"
    if torch.cuda.is_available():
        name = f"cuda:{torch.cuda.current_device()}"
    _log(name)
    return torch.device(name)


def cuda_number(device: torch.device) -> int:
    """
    What AllenNLP calls a device: a GPU's number, or -1 for the CPU. Raises `InputError`
    for others, on which it does not compute.
    """
    if device.type == "cpu":
        return -1
    if device.type != "cuda":
        problem = f"device: expected the CPU or a GPU of CUDA, got {device}"
        raise InputError(problem, hint="AllenNLP computes on no other")
    return device.index


@cache
def _log(name: str) -> None:
    logger.info("computing on %s, the best device there is", name)


def cpu_type() -> str:
    """
    The model of the CPU and its vector instructions; vectors of two types agree up to
    rounding.
    """
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":")[1].strip() or model
                break
    return f"{model}, {torch.backends.cpu.get_cpu_capability()}"


def cpu_products() -> str:
    """
    The vector instructions of this CPU that matter for matrix products, and how it
    computes in low precision.
    """
    capabilities: Mapping[str, Any] = {}
    if hasattr(torch.cpu, "get_capabilities"):  # not in an older torch
        capabilities = torch.cpu.get_capabilities()
    units = [name for name in _UNITS if capabilities.get(name)]
    bfloat16 = "in bfloat16" if has_bfloat16() else "in float32"
    int8 = "in float32"
    if can_pack(torch.device("cpu"), torch.int8):
        is_onednn = weight_class(torch.int8) is QuantizedWeight
        int8 = f"in 8 bits by {'oneDNN' if is_onednn else 'FBGEMM'}"
    return (
        f"{', '.join(units) or 'unknown'}; precision bfloat16 computes {bfloat16},"
        f" int8 {int8}"
    )
