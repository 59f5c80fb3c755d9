"""Run the runs of a table on this machine: a process for each run, several at a time."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import torch

from elmo_tasks.ablation import run_dir
from elmo_tasks.ablation.runs import Run

STOP_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL."""


class Event(NamedTuple):
    """A run has started or finished; `failure` says why it failed."""

    run: Run
    finished: bool
    failure: str | None = None


class _Running(NamedTuple):
    run: Run
    slot: int
    process: subprocess.Popen[bytes]


def run_all(runs: list[Run], *, workers: int) -> Iterator[Event]:
    """
    Run all, `workers` at a time, in this order, but each after the runs that it needs.

    Yields what starts and finishes. Closing the generator, an interrupt or an error stops the running processes.
    """
    waiting, running, failed = list(runs), dict[Future[int], _Running](), set[str]()
    with ThreadPoolExecutor(workers) as pool:
        try:
            while waiting or running:
                for run in _ready(waiting, running)[: workers - len(running)]:
                    waiting.remove(run)
                    slot = min(set(range(workers)) - {one.slot for one in running.values()})
                    started = _Running(run, slot, _start(run, slot, workers))
                    running[pool.submit(started.process.wait)] = started
                    yield Event(run, finished=False)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    run = running.pop(future).run
                    failure = run_dir.failure_of(run.folder, future.result())
                    if failure is not None:
                        failed.add(run.digest)
                    yield Event(run, finished=True, failure=failure)
                for run in [run for run in waiting if failed.intersection(run.after)]:
                    waiting.remove(run)
                    failed.add(run.digest)
                    yield Event(run, finished=True, failure="a run that it needs failed")
        finally:
            for one in running.values():
                _stop(one.process)


def _ready(waiting: list[Run], running: dict[Future[int], _Running]) -> list[Run]:
    unfinished = {run.digest for run in waiting} | {one.run.digest for one in running.values()}
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
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(running.pid, number)
        with suppress(subprocess.TimeoutExpired):
            running.wait(STOP_SECONDS)
            return


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
