"""Memory allocation on Linux."""

import ctypes
import platform

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def keep_freed_memory() -> None:
    """
    Makes glibc reuse the memory of freed tensors of up to 1 GB. By default it returns blocks above 32 MB, and the free
    end of the heap, to the system, which clears each page again at its next use: up to a fifth of a training step on a
    CPU (docs/PERFORMANCE.md). Does nothing with other C libraries.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(_M_MMAP_THRESHOLD, 2**30)
    mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
