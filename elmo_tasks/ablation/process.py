"""The process of a run. Light imports only: the nodes of a cluster import this module."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

LOG = "log.txt"
BUSY, SKIPPED = 75, 76
"""Exit codes of a run that another process executes, and of one that needs a failed run."""
POLL_SECONDS = 1.0


def command(folder: object) -> list[str]:
    """The command that executes the run in a folder."""
    return [sys.executable, "-m", "elmo_tasks", "ablate-run", str(folder)]


def start(arguments: list[str], folder: str | Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a command in its own process group, with its output in the run's log. It exits when this process does."""
    with (Path(folder) / LOG).open("ab") as log:
        return subprocess.Popen(
            [*arguments, "--parent", str(os.getpid())],
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def run_on_node(arguments: list[str], folder: str, environment: dict[str, str], *others: int) -> int:
    """The exit code of a command, see `start`; `SKIPPED` if one of the `others`, the needed runs, failed."""
    return SKIPPED if any(others) else start(arguments, folder, environment).wait()


def exit_with_parent(parent: int) -> None:
    """From now on exit this process when its parent, the process with the id `parent`, no longer exists."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(POLL_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
