"""
Forks of the test's process: what they leave behind when they are killed, and commands
that run in them.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elmo_tasks.system.files import atomic_write


def fork(action: Callable[[], object]) -> int:
    """
    Calls `action` in a new process, whose id it returns. Its exit status is 0, or 1
    after an error.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        action()
        status = 0
    except SystemExit as end:
        if isinstance(end.code, int):
            status = end.code
        elif isinstance(end.code, str):
            os.write(2, f"{end.code}\n".encode())
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def status_of(child: int) -> int:
    """Waits for a child. Its exit status; negative for the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def temporary(folder: Path) -> list[Path]:
    """The temporary folders below a folder."""
    return sorted(folder.rglob("*.tmp"))


def killed_while_writing(target: Path) -> Path:
    """The temporary folder of a process that was killed while it wrote `target`."""
    before = set(temporary(target.parent))

    def write() -> None:
        with atomic_write(target) as aside:
            aside.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)

    status_of(fork(write))
    (new,) = set(temporary(target.parent)) - before
    return new


CHANGES = ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir")
"""Audit events of changes to files."""


def kill_at_event(number: int, folder: Path) -> None:
    """
    From now on this process kills itself before its n-th change below `folder`: before
    a file is opened for writing, renamed, linked or removed, or a folder is made or
    removed.
    """
    changes = 0

    def count(event: str, details: tuple[Any, ...]) -> None:
        nonlocal changes
        if event not in CHANGES:
            return
        is_read = event == "open" and not details[2] & (os.O_WRONLY | os.O_RDWR)
        if is_read or not str(details[0]).startswith(str(folder)):
            return
        changes += 1
        if changes == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
