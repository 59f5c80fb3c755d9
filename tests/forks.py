"""
Forks of the test's process: what they leave behind when they are killed, and commands
that run in them.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

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
    """The temporary files and folders below a folder."""
    return sorted(folder.rglob("*.tmp"))


def nothing() -> None:
    """Prepares nothing."""


def killed_while_writing(
    target: Path, *, prepare: Callable[[], object] = nothing, reap: bool = True
) -> Path:
    """
    The temporary file of a process that was killed while it wrote `target`; `prepare`
    is called in it before.
    """
    before = set(temporary(target.parent))

    def write() -> None:
        prepare()
        with atomic_write(target) as aside:
            aside.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)

    child = fork(write)
    if reap:
        status_of(child)
    left = _new_one(target.parent, before)
    if not reap:
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    return left


@contextmanager
def writing(target: Path, prepare: Callable[[], object] = nothing) -> Iterator[Path]:
    """
    The temporary file of a process that writes `target` until the end of the block.
    """
    before = set(temporary(target.parent))

    def write() -> None:
        prepare()
        with atomic_write(target) as aside:
            aside.write_text("half")
            signal.pause()

    child = fork(write)
    try:
        yield _new_one(target.parent, before)
    finally:
        os.kill(child, signal.SIGKILL)
        status_of(child)


def _new_one(folder: Path, before: set[Path]) -> Path:
    """The temporary file that appears in a folder within half a minute."""
    end = time.monotonic() + 30
    found = set(temporary(folder)) - before
    while not found and time.monotonic() < end:
        time.sleep(0.01)
        found = set(temporary(folder)) - before
    (new,) = found
    return new
