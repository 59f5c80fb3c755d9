"""The state of all random number generators of a process, as plain data for a checkpoint."""

import random
from typing import Any

import numpy
import torch


def random_state() -> dict[str, Any]:
    """The state of the global generators of Python, NumPy and PyTorch, and of the GPUs in use."""
    return order_state() | {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
    }


def order_state() -> dict[str, Any]:
    """Of Python and NumPy only, which data loaders and readers use for the order of the data."""
    of_numpy: Any = numpy.random.get_state()
    name, keys, *rest = of_numpy
    return {"python": random.getstate(), "numpy": (name, keys.tolist(), *rest)}


def set_random_state(state: dict[str, Any]) -> None:
    """Restore a `random_state()` or `order_state()` of this or another process."""
    random.setstate(state["python"])
    numpy.random.set_state(state["numpy"])
    if "torch" in state:
        torch.set_rng_state(state["torch"])
        for device, of_device in enumerate(state["cuda"][: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(of_device, device)
