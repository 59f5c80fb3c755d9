"""
The process of a run, on this machine or on a node of a Ray cluster. Imports neither
torch nor AllenNLP.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from elmo_tasks.experiments.tables import run_dir

STOP_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL."""

HELD = 75
"""The exit code of a run that another process executes."""

COMMAND = ("-m", "elmo_tasks", "ablate-run")
"""The arguments of Python before the folder of the run that it is to execute."""


@dataclass(frozen=True)
class RunCommand:
    """
    What executes the run in a folder: the arguments of Python before the folder, the
    current folder, and variables of the environment. Output is appended to the run's
    log.
    """

    command: tuple[str, ...]
    folder: Path
    cwd: str
    variables: Mapping[str, str]

    def start(self) -> subprocess.Popen[bytes]:
        """
        Start the process, in a process group of its own. It ends, with all that it
        starts, when this process does, see `execute`.
        """
        with (self.folder / run_dir.LOG).open("ab") as log:
            return subprocess.Popen(
                [sys.executable, *self.command, str(self.folder)]
                + ["--parent", str(os.getpid())],
                env=os.environ | dict(self.variables),
                cwd=self.cwd if os.path.isdir(self.cwd) else None,
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


class Workers(Protocol):
    """What executes the runs of a table, `slots` at a time."""

    slots: int

    def share(self, slot: int) -> dict[str, str]:
        """
        The environment variables that limit a program to its share of the cores and
        GPUs, if one program runs in each slot. `slot` is its number, counted from 0.
        """

    def start(self, run: RunCommand) -> Future[int]:
        """
        Execute a run. The future has the exit code, or the error of a worker that was
        lost.
        """

    def close(self) -> None:
        """End all runs that are executed, and execute no others."""


def thread_variables(cores: int) -> dict[str, str]:
    """The environment variables that make a program use this number of threads."""
    return {"OMP_NUM_THREADS": str(cores), "MKL_NUM_THREADS": str(cores)}
