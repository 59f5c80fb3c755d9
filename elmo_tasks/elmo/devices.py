"""The device on which layers are computed."""

import logging
from contextlib import suppress
from functools import cache
from numbers import Integral

import torch

from elmo_tasks.errors import InputError, shown

logger = logging.getLogger(__name__)


def opened_device(chosen: str | int | torch.device | None) -> torch.device:
    """
    A device such as `cpu` or `cuda:0`, a GPU's number, or for `None` the best one there
    is. Raises `InputError` if there is no such device.
    """
    if chosen is None:
        return best_device()
    found = None
    is_number = isinstance(chosen, Integral) and not isinstance(chosen, bool)
    if is_number or isinstance(chosen, str | torch.device):
        # of a name, of an absent one, and of a number that is too large
        with suppress(RuntimeError, AssertionError, ValueError):
            found = torch.empty(0, device=chosen).device
    if found is None or found.type == "meta":  # which has no values
        problem = "device: expected one of this machine, such as cpu or cuda:0"
        raise InputError(f"{problem}, got {shown(chosen)}")
    return found


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
