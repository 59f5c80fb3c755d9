"""
Processes that end with the process that started them, and the memory of a process.
"""

import ctypes
import multiprocessing
import os
import platform
import signal
import threading
import time

POLL_SECONDS = 1.0


def exit_with_parent(parent: int) -> None:
    """
    From now on exit this process when its parent, the process with the id `parent`, no
    longer exists; if it leads a process group, with all processes of the group.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_SECONDS)
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def exit_with_starter() -> None:
    """
    Call this in a process that `multiprocessing` started, by any method: it then exits
    as soon as the process that started it no longer exists.
    """

    def watch() -> None:
        starter = multiprocessing.parent_process()
        if starter is not None:
            starter.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def keep_freed_memory() -> None:
    """
    Makes glibc reuse the memory of freed tensors of up to 1 GB. By default it returns
    blocks above 32 MB, and the free end of the heap, to the system, which clears each
    page again at its next use: up to a fifth of a training step on a CPU.
    Does nothing with other C libraries.
    """
    _set_malloc(mmap_threshold=2**30, trim_threshold=2**31 - 1)


def return_freed_memory() -> None:
    """
    Makes glibc return freed tensors of a megabyte or more to the system, so that a
    process takes no more memory after a large input than before. By default it keeps
    blocks of up to 32 MB after a while. Does nothing with other C libraries.
    """
    _set_malloc(mmap_threshold=2**20, trim_threshold=2**20)


def _set_malloc(*, mmap_threshold: int, trim_threshold: int) -> None:
    if platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(-3, mmap_threshold)  # M_MMAP_THRESHOLD
    mallopt(-1, trim_threshold)  # M_TRIM_THRESHOLD
