"""The process of a run, without the packages that it will need itself: nodes of a cluster import this alone."""

import os
import subprocess
import sys
import time
from pathlib import Path

LOG = "log.txt"


def command(folder: object) -> list[str]:
    """What carries out the run in a folder; `--parent PID` behind it lets it end with that process."""
    return [sys.executable, "-m", "elmo_tasks", "ablate-run", str(folder)]


def in_process(
    given: list[str], folder: str, environment: dict[str, str], *others: tuple[int, float]
) -> tuple[int, float]:
    """
    Waits for a run's own process: its exit code and its seconds.

    # Parameters

    given : `list[str]`
        Its command.
    folder : `str`
        Has its log.
    environment : `dict[str, str]`
        What it has besides this process's.
    others : `tuple[int, float]`
        What this gave for the runs that it builds on, for which the cluster waits.
    """
    if any(code for code, _ in others):
        return 1, 0.0
    began = time.monotonic()
    with (Path(folder) / LOG).open("ab") as log:
        code = subprocess.run(
            [*given, "--parent", str(os.getpid())],
            env=dict(os.environ) | environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        ).returncode
    return code, time.monotonic() - began
