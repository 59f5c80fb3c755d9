"""Run the runs of a table on this machine: a process for each run, several at a time."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import torch

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.runs import Event, Run

STOP_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL."""
POLL_SECONDS = 0.5
HELD = 75
"""The exit code of a run that another process executes."""


class _Running(NamedTuple):
    run: Run
    slot: int
    process: subprocess.Popen[bytes]


def run_all(runs: list[Run], *, workers: int) -> Iterator[Event]:
    """
    Run all, `workers` at a time, in this order, but each after the runs that it needs, and those that other processes
    execute last: a run that another process finishes is not repeated.

    Yields what starts and finishes, and twice a second what is running. Closing the generator, an interrupt or an error
    stops the running processes.
    """
    waiting, running, failed, held = list(runs), list[_Running](), set[str](), set[str]()
    try:
        while waiting or running:
            for run in _ready(waiting, running):
                if len(running) == workers:
                    break
                if run_dir.read_result(run.folder) is not None:
                    waiting.remove(run)
                    yield Event(run, "finished")
                elif not run_dir.is_held(run.folder):
                    waiting.remove(run)
                    slot = min(set(range(workers)) - {one.slot for one in running})
                    running.append(_Running(run, slot, _start(run, slot, workers)))
                    yield Event(run, "started")
                elif run.digest not in held:
                    held.add(run.digest)
                    yield Event(run, "held")
            time.sleep(POLL_SECONDS)
            for one in list(running):
                code = one.process.poll()
                if code is None:
                    yield Event(one.run, "running")
                    continue
                _stop(one.process)  # what it may have left
                running.remove(one)
                if code == HELD:
                    waiting.insert(0, one.run)
                    continue
                failure = run_dir.failure_of(one.run.folder, code)
                if failure is not None:
                    failed.add(one.run.digest)
                yield Event(one.run, "finished", failure)
            for run in [run for run in waiting if failed.intersection(run.after)]:
                waiting.remove(run)
                failed.add(run.digest)
                yield Event(run, "finished", "a run that it needs failed")
    finally:
        for one in running:
            _stop(one.process)


def _ready(waiting: list[Run], running: list[_Running]) -> list[Run]:
    unfinished = {run.digest for run in waiting} | {one.run.digest for one in running}
    return [run for run in waiting if not unfinished.intersection(run.after)]


def command(folder: Path) -> list[str]:
    """The command that executes the run in a folder."""
    return [sys.executable, "-m", "elmo_tasks", "ablate-run", str(folder)]


def _start(run: Run, slot: int, workers: int) -> subprocess.Popen[bytes]:
    """Start a run in its own process group, with its output in its log. It exits when this process does."""
    run_dir.prepare_run_dir(run)
    with (run.folder / run_dir.LOG).open("ab") as log:
        return subprocess.Popen(
            [*command(run.folder), "--parent", str(os.getpid())],
            env=os.environ | environment(slot, workers=workers),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _stop(running: subprocess.Popen[bytes]) -> None:
    """Stop a process and its children."""
    with suppress(ProcessLookupError):
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                running.wait(STOP_SECONDS)
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def environment(slot: int, *, workers: int) -> dict[str, str]:
    """The variables of a worker: its share of the cores, and one of several GPUs."""
    cores = max(1, (os.cpu_count() or 1) // workers)
    limit = os.environ.get("OMP_NUM_THREADS", "")
    threads = min(cores, int(limit) or cores) if limit.isdecimal() else cores
    variables = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    gpus = torch.cuda.device_count()
    if gpus > 1 and workers > 1 and "CUDA_VISIBLE_DEVICES" not in os.environ:
        variables["CUDA_VISIBLE_DEVICES"] = str(slot % gpus)
    return variables
