"""The devices of this machine."""

from typing import Any

import torch

from elmo_tasks.errors import InputError

CPU = -1


def has_device(device: Any) -> bool:
    """Whether the device of a config exists: the index of a GPU, or a negative number for the CPU."""
    return isinstance(device, int) and not isinstance(device, bool) and device < max(0, torch.cuda.device_count())


def require_device(device: int) -> None:
    """Raises `InputError` if there is no such device."""
    if not has_device(device):
        raise InputError(f"--cuda-device: expected {devices_here()}, got {device}")


def devices_here() -> str:
    """The devices of this machine, for a message."""
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return f"{CPU} (the CPU), since this machine has no GPU"
    return f"{CPU} (the CPU) or a GPU from 0 to {gpus - 1}"
