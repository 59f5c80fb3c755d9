"""The process of a run, on this machine or on a node of a Ray cluster. Imports neither torch nor AllenNLP."""

import importlib
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import run_dir

POLL_SECONDS = 0.5
STOP_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL."""
HELD = 75
"""The exit code of a run that another process executes."""
NODE = "node.json"
"""In a run's folder: the node that executes the run, and whether it waits for another process to release it."""


Command = Callable[[Path], list[str]]
"""A run's folder -> the command that executes the run there."""


def command(folder: Path) -> list[str]:
    """The command that executes the run in a folder."""
    return [sys.executable, "-m", "elmo_tasks", "ablate-run", str(folder)]


def start(
    folder: Path, command: list[str], variables: dict[str, str], cwd: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a run in its own process group, with its output in its log. It exits when this process does."""
    with (folder / run_dir.LOG).open("ab") as log:
        return subprocess.Popen(
            [*command, "--parent", str(os.getpid())],
            env=os.environ | variables,
            cwd=cwd,
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


def execute_on_node(
    command: Command,
    folder: Path,
    cwd: str,
    environment: dict[str, str],
) -> int:
    """On a node: execute the run once no other process does, and return the exit code."""
    if not (folder / run_dir.PLAN).is_file():
        raise InputError("the folder is not shared with this node", file=folder)
    code = HELD
    while code == HELD:
        if run_dir.is_held(folder):
            _tell(folder, "held")
        while run_dir.is_held(folder):
            time.sleep(POLL_SECONDS)
        _tell(folder, "started")
        process = start(
            folder,
            command(folder),
            environment,
            cwd=cwd if os.path.isdir(cwd) else None,
        )
        try:
            code = process.wait()
        finally:
            stop(process)
    return code


def _tell(folder: Path, state: str) -> None:
    node = f"{platform.node()} ({importlib.import_module('ray').get_runtime_context().get_node_id()[:6]})"
    run_dir.write_json(
        folder / NODE, {"state": state, "node": node, "process": os.getpid()}
    )
