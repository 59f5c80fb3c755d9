"""The lock of a training process on its serialization folder."""

import fcntl
import logging
import os
from contextlib import suppress
from pathlib import Path

from elmo_tasks.errors import InputError

logger = logging.getLogger(__name__)

LOCK = ".training.lock"
"""A file in the folder of a run while a process trains in it. A killed process leaves it there, unlocked."""

_held: dict[Path, int] = {}
"""The locked file of this process, and its descriptor."""


def acquire(folder: Path) -> None:
    """
    Locks a folder until `release` or the end of the process, or raises `InputError` if another process has locked it.
    Unlike `filelock`, forked workers do not hold the lock.
    """
    path = (folder / LOCK).absolute()
    if path in _held and _is_at(path, _held[path]):
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_free = _is_at(path, descriptor)  # else its owner removed it after it was opened
    except BlockingIOError:
        is_free = False
    except OSError as error:
        logger.warning("%s cannot be locked (%s): do not train in this folder twice at once", folder, error.strerror)
        is_free = True
    if not is_free:
        os.close(descriptor)
        hint = "wait for it, or give -s another folder"
        raise InputError("another process is training in this folder", file=folder, hint=hint)
    _close()
    _held[path] = descriptor


def release() -> None:
    """Removes and unlocks the file of this process, if there is one."""
    for path, descriptor in _held.items():
        if _is_at(path, descriptor):
            path.unlink(missing_ok=True)
    _close()


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file is still the one at this path."""
    with suppress(OSError):
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    return False


def _close() -> None:
    while _held:
        os.close(_held.popitem()[1])


os.register_at_fork(after_in_child=_close)
