"""The device on which layers are computed."""

import logging
import platform
from contextlib import suppress
from functools import cache
from numbers import Integral
from pathlib import Path

import torch

from elmo_tasks.errors import InputError, shown

_HINT = "the installed PyTorch can use no other device of this machine"

logger = logging.getLogger(__name__)


def opened_device(chosen: str | int | torch.device | None) -> torch.device:
    """
    A device such as `cpu` or `cuda:0`, a GPU's number, or for `None` the best one there
    is. Raises `InputError` if this machine has no such device.
    """
    if chosen is None:
        return best_device()
    found = None
    is_number = isinstance(chosen, Integral) and not isinstance(chosen, bool)
    if is_number or isinstance(chosen, str | torch.device):
        # of a name, of an absent one, and of a number that is too large
        with suppress(RuntimeError, AssertionError, ValueError, ImportError):
            found = torch.empty(0, device=chosen).device
    if found is None or found.type == "meta":  # which has no values
        names = " or ".join(devices_here())
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
    """CUDA's current device, else Apple's GPU, else the CPU; logged once."""
    name = "cpu"
    if torch.cuda.is_available():
        name = f"cuda:{torch.cuda.current_device()}"
    elif torch.backends.mps.is_available():
        name = "mps"
    _log(name)
    return torch.device(name)


@cache
def _log(name: str) -> None:
    logger.info("Elmo computes on %s, the best device there is", name)


def cpu_type() -> str:
    """
    The model of the CPU and its vector instructions; vectors of two types agree up to
    rounding.
    """
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        model = _model_name(Path("/proc/cpuinfo").read_text()) or model
    return f"{model}, {torch.backends.cpu.get_cpu_capability()}"


def _model_name(cpuinfo: str) -> str | None:
    for line in cpuinfo.splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return None
