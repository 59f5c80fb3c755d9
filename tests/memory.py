"""
Memory of this process. Tests that measure it are skipped where there is no `/proc`, as
on macOS. `Largest` sees tensors alone, and works everywhere.
"""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.system import require_path

_STATUS = Path("/proc/self/status")


def resident() -> int:
    """Resident bytes."""
    require_path(str(_STATUS))
    return _bytes("VmRSS")


@contextmanager
def grown() -> Iterator[list[int]]:
    """Yields a list that gets the peak growth in bytes at the end."""
    require_path("/proc/self/clear_refs", str(_STATUS))
    found: list[int] = []
    Path("/proc/self/clear_refs").write_text("5")
    before = resident()
    yield found
    found.append(_bytes("VmHWM") - before)


def release() -> None:
    """Returns free memory to the system, so that `grown` sees new allocations."""
    gc.collect()
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):  # glibc's
        library.malloc_trim(0)


class Largest(TorchDispatchMode):
    """In `bytes`, the size of the largest tensor that was made within it."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        for output in found if isinstance(found, tuple | list) else [found]:
            if isinstance(output, torch.Tensor):
                self.bytes = max(self.bytes, output.nbytes)
        return found


def _bytes(name: str) -> int:
    line = next(
        line for line in _STATUS.read_text().splitlines() if line.startswith(name)
    )
    return int(line.split()[1]) * 1024
