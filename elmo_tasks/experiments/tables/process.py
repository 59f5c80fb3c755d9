"""
The process of a run, on this machine or on a node of a Ray cluster. Imports neither
torch nor AllenNLP.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.ray_cluster import node_name

STOP_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL."""

HELD = 75
"""The exit code of a run that another process executes."""

NODE = "node.json"
"""
In a run's folder while a worker executes it: `process`, the worker's id, and `node`,
see `node_name`.
"""

COMMAND = ("-m", "elmo_tasks", "ablate-run")
"""The arguments of Python before the folder of the run that it is to execute."""


def execute(
    command: tuple[str, ...], folder: Path, cwd: str, variables: dict[str, str]
) -> int:
    """
    In a worker: execute the run in a folder by a process of its own, and return the
    exit code. The process, with all that it starts, ends when the worker does; its
    output is appended to the run's log.
    """
    if not (folder / run_dir.PLAN).is_file():
        raise InputError("the folder is not shared with this node", file=folder)
    process = _start(command, folder, cwd, variables)
    try:
        tell_start(folder)
        return process.wait()
    finally:
        stop(process)


def tell_start(folder: Path) -> None:
    """Write that this process executes the run, for the process that follows it."""
    place = {"node": node_name(), "process": os.getpid()}
    run_dir.write_json(folder / NODE, place)


def _start(
    command: tuple[str, ...], folder: Path, cwd: str, variables: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start the process in its own process group."""
    with (folder / run_dir.LOG).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, *command, str(folder), "--parent", str(os.getpid())],
            env=os.environ | variables,
            cwd=cwd if os.path.isdir(cwd) else None,
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
