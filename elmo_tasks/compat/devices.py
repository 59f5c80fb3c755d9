"""A patch of `allennlp.common.util`: missing GPUs."""

from typing import Any

import torch
from allennlp.common import util as common_util

from elmo_tasks.errors import InputError

CPU = -1


def has_device(device: Any) -> bool:
    """Whether the device of a config exists: the index of a GPU, or a negative number for the CPU."""
    return isinstance(device, int) and not isinstance(device, bool) and device < max(0, torch.cuda.device_count())


def devices_here() -> str:
    """The devices of this machine, for a message."""
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return f"{CPU} (the CPU), since this machine has no GPU"
    return f"{CPU} (the CPU) or a GPU from 0 to {gpus - 1}"


def report_missing_gpus() -> None:
    """
    Makes AllenNLP's check for a GPU end in one line if there is none.

    The check calls `torch.device(number)`, which fails without an accelerator. The patch can go when AllenNLP counts
    the devices first.
    """
    common_util.int_to_device = _int_to_device


def _int_to_device(device: int | torch.device) -> torch.device:
    if isinstance(device, torch.device):
        return device
    if not has_device(device):
        raise InputError(f"expected {devices_here()}, got GPU {device}")
    return torch.device("cpu") if device < 0 else torch.device("cuda", device)
