"""A process that ends with the one that started it, however that ends: a killed command leaves no run behind."""

import os
import threading
import time

PAUSE = 1.0
"""Seconds between two looks at whether the parent is still there."""


def exit_with_parent(parent: int) -> None:
    """From now on this process ends when `parent`, which has started it, does."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PAUSE)
    os._exit(1)
