"""Which devices there are; a GPU that is not there is one error."""

from typing import Any

import torch
from allennlp.common import util as common_util

from elmo_tasks.errors import InputError

CPU = -1


def has_device(device: Any) -> bool:
    """Whether a config's device is there: a GPU's number, or a negative number for the CPU."""
    return isinstance(device, int) and not isinstance(device, bool) and device < max(0, torch.cuda.device_count())


def devices_here() -> str:
    """What a config may name on this machine."""
    gpus = torch.cuda.device_count()
    if gpus == 0:
        return f"{CPU} (the CPU), since this machine has no GPU"
    return f"{CPU} (the CPU) or a GPU from 0 to {gpus - 1}"


def device_of(device: int | torch.device) -> torch.device:
    """
    AllenNLP's `int_to_device`.

    # Raises

    `InputError`
        for the number of a GPU that is not there.
    """
    if isinstance(device, torch.device):
        return device
    if not has_device(device):
        raise InputError(f"expected {devices_here()}, got GPU {device}")
    return torch.device("cpu") if device < 0 else torch.device("cuda", device)


def name_missing_gpus() -> None:
    """
    Lets AllenNLP's check for a GPU end in one line where there is none.

    The check converts the number with `torch.device(number)` first, which current PyTorch refuses where there is no
    accelerator. It can go when AllenNLP counts the devices first.
    """
    common_util.int_to_device = device_of
