"""
The process of a run, on this machine or on a node of a Ray cluster. Imports neither
torch nor AllenNLP.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from elmo_tasks.experiments.tables import run_dir

STOP_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL."""

COMMAND = ("-m", "elmo_tasks", "ablate-run")
"""The arguments of Python before the folder of the run that it is to execute."""


@runtime_checkable
class Workers(Protocol):
    """What executes the runs of a table, `slots` at a time."""

    slots: int

    def execute(self, folder: Path) -> int:
        """
        Execute the run of a folder by a process, and return its exit code. Called from
        `slots` threads. Raises an error if a worker is lost.
        """

    def close(self) -> None:
        """End all runs that are executed, and execute no others."""


def start(
    folder: Path,
    command: tuple[str, ...],
    variables: Mapping[str, str],
    current_folder: str = ".",
) -> subprocess.Popen[bytes]:
    """
    Start the process that executes the run of a folder, in a new process group, with
    these variables of the environment, in this current folder. Its output is appended
    to the run's log. It ends, with all that it starts, when this process does.
    """
    with (folder / run_dir.LOG).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, *command, str(folder), "--parent", str(os.getpid())],
            env=os.environ | dict(variables),
            cwd=current_folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process and its children."""
    with suppress(ProcessLookupError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def thread_variables(cores: int) -> dict[str, str]:
    """The environment variables that make a program use this number of threads."""
    return {"OMP_NUM_THREADS": str(cores), "MKL_NUM_THREADS": str(cores)}
