"""What not every system has that this project runs on: Linux and macOS."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest


def require_path(*paths: str) -> None:
    """Skips a test where a file of the system, such as a device, is missing."""
    for path in paths:
        if not os.path.exists(path):
            pytest.skip(f"this system has no {path}")


@contextmanager
def signals_of_a_terminal() -> Iterator[None]:
    """
    Processes that start meanwhile are ended by Ctrl-C and by the end of a terminal, also
    where this process ignores both, as in the background job of a script.
    """
    numbers = (signal.SIGINT, signal.SIGHUP)
    before = [signal.signal(number, signal.SIG_DFL) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def output_of(
    command: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> str:
    """
    What a command prints to stdout. If it fails, the test fails with the end of what it
    printed.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    shown = done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode == 0, f"{command[-1]}\n{shown}"
    return done.stdout


def processes() -> dict[int, tuple[int, str, str]]:
    """
    All processes: parent, state (`Z` for one that has ended) and command. Skips a test
    where there is no `ps`.
    """
    if shutil.which("ps") is None:
        pytest.skip("there is no ps, which lists processes")
    command = ["ps", "-A", "-ww"]
    for column in ("pid", "ppid", "stat", "args"):
        command += ["-o", f"{column}="]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {}
    for line in listed.splitlines():
        fields = line.split(maxsplit=3) + [""]  # a process may have no command
        found[int(fields[0])] = (int(fields[1]), fields[2], fields[3])
    return found


def is_alive(pid: int) -> bool:
    """Whether the process still exists after two seconds."""
    for _ in range(40):
        found = processes()
        if pid not in found or found[pid][1].startswith("Z"):
            return False
        time.sleep(0.05)
    return True
