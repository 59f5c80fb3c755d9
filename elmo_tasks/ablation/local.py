"""Carries runs out on this machine: a process each, some at a time, those that build on others after these."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, NamedTuple, Protocol

import torch

from elmo_tasks.ablation import folder as folders
from elmo_tasks.ablation.process import command
from elmo_tasks.ablation.runs import Run

PAUSE = 0.2
"""Seconds between two looks at the processes."""
GRACE = 10.0
"""Seconds from the request to end to the end."""


class RunStarted(NamedTuple):
    """A run has been started."""

    run: Run


class RunFinished(NamedTuple):
    """How a run ended: after so many seconds, and if it failed, why."""

    run: Run
    seconds: float
    reason: str | None


class Job(Protocol):
    """A run that has been started."""

    def poll(self) -> int | None:
        """The exit code; None while it goes on."""

    def stop(self) -> None:
        """Ends it; afterwards it does nothing more."""


Launch = Callable[[Run, int], Job]
"""Starts a run in one of the places 0 to workers - 1."""


class Process:
    """A run in a process of its own, which ends with this one, however that ends."""

    def __init__(self, run: Run, place: int, *, workers: int) -> None:
        folders.prepare_run_dir(run)
        self._log: IO[bytes] = (run.folder / folders.LOG).open("ab")
        self._process = subprocess.Popen(
            [*command(run.folder), "--parent", str(os.getpid())],
            env=environment(place, workers=workers),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def poll(self) -> int | None:
        code = self._process.poll()
        if code is not None:
            self._log.close()
        return code

    def stop(self) -> None:
        for ending in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, ending)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
                break
        self._log.close()


def environment(place: int, *, workers: int) -> dict[str, str]:
    """This process's environment, with its share of the cores, and one of the GPUs where there are several."""
    threads = max(1, (os.cpu_count() or 1) // workers)
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdecimal() and int(limit) > 0:
        threads = min(threads, int(limit))
    found = dict(os.environ) | {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    gpus = torch.cuda.device_count()
    if gpus > 1 and workers > 1 and "CUDA_VISIBLE_DEVICES" not in os.environ:
        found["CUDA_VISIBLE_DEVICES"] = str(place % gpus)
    return found


def run_all(
    runs: Iterable[Run],
    *,
    workers: int,
    launch: Launch | None = None,
    pause: float = PAUSE,
) -> Iterator[RunStarted | RunFinished]:
    """
    # Parameters

    runs : `Iterable[Run]`
        Started in this order, as far as what they build on is there.
    workers : `int`
        How many go on at a time.
    launch : `Launch`, optional
        By default a `Process`.

    # Returns

    What begins and what ends, as it comes. Whoever stops listening, by an interrupt or an error, ends what goes on.
    """
    start: Launch = launch or (lambda run, place: Process(run, place, workers=workers))
    waiting, going = list(runs), dict[int, tuple[Run, Job, float]]()
    failed: set[str] = set()
    try:
        while waiting or going:
            while run := next((run for run in waiting if failed.intersection(run.after)), None):
                waiting.remove(run)
                failed.add(run.digest)
                yield RunFinished(run, 0.0, "it builds on a run that failed")
            for run in _ready(waiting, going, count=workers - len(going)):
                waiting.remove(run)
                place = next(place for place in range(workers) if place not in going)
                going[place] = (run, start(run, place), time.monotonic())
                yield RunStarted(run)
            for place, outcome in _ended(going):
                del going[place]
                if outcome.reason is not None:
                    failed.add(outcome.run.digest)
                yield outcome
            time.sleep(pause)
    finally:
        for _, job, _ in going.values():
            job.stop()


def _ready(waiting: list[Run], going: dict[int, tuple[Run, Job, float]], *, count: int) -> list[Run]:
    unfinished = {run.digest for run in waiting} | {run.digest for run, *_ in going.values()}
    return [run for run in waiting if not unfinished.intersection(run.after)][: max(0, count)]


def _ended(going: dict[int, tuple[Run, Job, float]]) -> list[tuple[int, RunFinished]]:
    found = []
    for place, (run, job, began) in going.items():
        code = job.poll()
        if code is not None:
            found.append((place, RunFinished(run, time.monotonic() - began, conclude(run, code))))
    return found


def conclude(run: Run, code: int) -> str | None:
    """Why a run whose process has ended with this code has failed; None if it has its result. Keeps the reason."""
    if code == 0 and folders.is_finished(run.folder):
        return None
    reason = folders.failure_reason(run.folder, code)
    if code != folders.BUSY:
        folders.note_failure(run, reason)
    return reason
