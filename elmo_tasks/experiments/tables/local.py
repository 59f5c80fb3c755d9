"""Run the runs of a table on this machine: a process for each run, several at a time."""

import os
import random
import subprocess
import time
from collections.abc import Iterator
from typing import NamedTuple

import torch

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.process import HELD, Command, command, start, stop
from elmo_tasks.experiments.tables.runs import Event, Run

POLL_SECONDS = 0.5


class _Running(NamedTuple):
    run: Run
    slot: int
    process: subprocess.Popen[bytes]


def run_all(
    runs: list[Run],
    *,
    workers: int,
    join: bool = False,
    command: Command = command,
    poll_seconds: float = POLL_SECONDS,
) -> Iterator[Event]:
    """
    Run all, `workers` at a time, in this order, but each after the runs that it needs, and those that other processes
    execute last: a run that another process finishes, or that meanwhile fails there, is not repeated. With `join`, the
    order is random, so that calls that start together differ, and it ends when others execute all that is left. Each
    run is a process of `command`; every `poll_seconds` those that have ended are looked for.

    Yields what starts and finishes. Closing the generator, an interrupt or an error stops the running processes.
    """
    waiting = random.sample(runs, len(runs)) if join else list(runs)
    running, failed, held = list[_Running](), set[str](), set[str]()
    known_failures = {run.digest: run_dir.failed_at(run.folder) for run in runs}
    try:
        while waiting or running:
            for run in ready(waiting, [one.run for one in running]):
                if len(running) == workers:
                    break
                failed_elsewhere = run_dir.failed_at(run.folder) not in (
                    None,
                    known_failures[run.digest],
                )
                if failed_elsewhere or run_dir.read_result(run.folder) is not None:
                    waiting.remove(run)
                    failure = run_dir.failure_of(run.folder, 1)
                    failed |= {run.digest} if failure else set()
                    yield Event(run, "finished", failure)
                elif not run_dir.is_held(run.folder):
                    waiting.remove(run)
                    slot = min(set(range(workers)) - {one.slot for one in running})
                    process = _start(run, command, environment(slot, workers=workers))
                    running.append(_Running(run, slot, process))
                    yield Event(run, "started")
                elif run.digest not in held:
                    held.add(run.digest)
                    yield Event(run, "held")
            if (
                join
                and not running
                and all(run_dir.is_held(run.folder) for run in waiting)
            ):
                return
            time.sleep(poll_seconds)
            for one in list(running):
                code = one.process.poll()
                if code is None:
                    continue
                stop(one.process)  # what it may have left
                running.remove(one)
                if code == HELD:
                    waiting.insert(0, one.run)
                    continue
                failure = run_dir.failure_of(one.run.folder, code)
                if failure is not None:
                    failed.add(one.run.digest)
                yield Event(one.run, "finished", failure)
            yield from skipped(waiting, failed)
    finally:
        for one in running:
            stop(one.process)


def ready(waiting: list[Run], running: list[Run]) -> list[Run]:
    """The waiting runs that need none of the others."""
    unfinished = {run.digest for run in waiting + running}
    return [run for run in waiting if not unfinished.intersection(run.after)]


def skipped(waiting: list[Run], failed: set[str]) -> Iterator[Event]:
    """Moves the runs that need a failed one from the waiting runs to the hashes of the failed ones."""
    for run in [run for run in waiting if failed.intersection(run.after)]:
        waiting.remove(run)
        failed.add(run.digest)
        yield Event(run, "finished", "a run that it needs failed")


def _start(
    run: Run, command: Command, variables: dict[str, str]
) -> subprocess.Popen[bytes]:
    run_dir.prepare_run_dir(run)
    return start(run.folder, command(run.folder), variables)


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
