"""Run the runs of a table on this machine: a process for each run, several at a time."""

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import NamedTuple

import torch

from elmo_tasks.ablation import process, run_dir
from elmo_tasks.ablation.runs import Run

STOP_SECONDS = 10.0
"""Seconds between SIGTERM and SIGKILL."""


class RunStarted(NamedTuple):
    """A run has started."""

    run: Run


class RunFinished(NamedTuple):
    """A run has finished; `reason` says why it failed."""

    run: Run
    reason: str | None


class _Running(NamedTuple):
    run: Run
    slot: int
    process: subprocess.Popen[bytes]


def run_all(runs: list[Run], *, workers: int) -> Iterator[RunStarted | RunFinished]:
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
                    yield RunStarted(run)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    run = running.pop(future).run
                    reason = run_dir.failure_of(run.folder, future.result())
                    if reason is not None:
                        failed.add(run.digest)
                    yield RunFinished(run, reason)
                for run in [run for run in waiting if failed.intersection(run.after)]:
                    waiting.remove(run)
                    failed.add(run.digest)
                    yield RunFinished(run, run_dir.REASONS[process.SKIPPED])
        finally:
            for one in running.values():
                _stop(one.process)


def _ready(waiting: list[Run], running: dict[Future[int], _Running]) -> list[Run]:
    unfinished = {run.digest for run in waiting} | {one.run.digest for one in running.values()}
    return [run for run in waiting if not unfinished.intersection(run.after)]


def _start(run: Run, slot: int, workers: int) -> subprocess.Popen[bytes]:
    run_dir.prepare_run_dir(run)
    return process.start(process.command(run.folder), run.folder, environment(slot, workers=workers))


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
