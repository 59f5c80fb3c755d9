"""
Memory of this process. Tests that measure it are skipped where there is no `/proc`, as
on macOS.
"""

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


def _bytes(name: str) -> int:
    line = next(
        line for line in _STATUS.read_text().splitlines() if line.startswith(name)
    )
    return int(line.split()[1]) * 1024
