"""The device on which layers are computed."""

import logging
from functools import cache

import torch

from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)


def opened_device(chosen: str | int | torch.device | None) -> torch.device:
    """
    A device such as `cpu` or `cuda:0`, a GPU's number, or for `None` the best one there
    is. Raises `InputError` if there is no such device.
    """
    if chosen is None:
        return best_device()
    try:
        return torch.empty(0, device=chosen).device
    except (RuntimeError, AssertionError):  # of a name, and of one that is not there
        problem = "device: expected one of this machine, such as cpu or cuda:0"
        raise InputError(f"{problem}, got {chosen!r}") from None


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
