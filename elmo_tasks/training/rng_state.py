"""The random numbers of a process, all generators at once, as plain data for a checkpoint."""

import random
from typing import Any

import numpy
import torch


def random_state() -> dict[str, Any]:
    """Where the global generators of Python, NumPy and PyTorch stand, those of the GPUs in use with them."""
    return order_state() | {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
    }


def order_state() -> dict[str, Any]:
    """The same of Python and NumPy alone, from which data loaders and readers draw the order of the data."""
    of_numpy: Any = numpy.random.get_state()
    name, keys, *rest = of_numpy
    return {"python": random.getstate(), "numpy": (name, keys.tolist(), *rest)}


def set_random_state(state: dict[str, Any]) -> None:
    """Goes on where `random_state()` or `order_state()` was called, in this or another process."""
    random.setstate(state["python"])
    numpy.random.set_state(state["numpy"])
    if "torch" in state:
        torch.set_rng_state(state["torch"])
        for device, of_device in enumerate(state["cuda"][: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(of_device, device)
