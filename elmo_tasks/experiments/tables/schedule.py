"""Step 3: have workers execute the runs of a table, as many at a time as they can."""

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.process import Workers
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.system.files import Held
from elmo_tasks.system.ray_cluster import first_line


class Change(NamedTuple):
    """A run that has started, or that has ended, with the `failure` if it failed."""

    run: Run
    has_ended: bool
    failure: str | None = None


def execute_all(runs: list[Run], workers: Workers) -> Iterator[Change]:
    """
    Execute runs in the given order, but each after the runs that it needs; it is left
    out if one of these fails. Yields a run when it starts and when it ends. At the end,
    or when this is closed, the workers are closed, which stops what they execute.
    """
    waiting = list(runs)
    running: dict[Future[int], Run] = {}
    failed: set[str] = set()
    threads = ThreadPoolExecutor(workers.slots)
    try:
        while waiting or running:
            for run in _ready(waiting, list(running.values())):
                if len(running) < workers.slots:
                    waiting.remove(run)
                    running[threads.submit(_execute, run, workers)] = run
                    yield Change(run, has_ended=False)
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for call in done:
                run = running.pop(call)
                failure = _failure(run, call)
                if failure is not None:
                    failed.add(run.digest)
                yield Change(run, has_ended=True, failure=failure)
            for run in list(waiting):
                if not failed.isdisjoint(run.after):
                    waiting.remove(run)
                    failed.add(run.digest)
                    yield Change(
                        run, has_ended=True, failure="a run that it needs failed"
                    )
    finally:
        workers.close()
        threads.shutdown(cancel_futures=True)


def _ready(waiting: list[Run], running: list[Run]) -> list[Run]:
    """Those that need no run that has not ended."""
    needed = {run.digest for run in waiting + running}
    return [run for run in waiting if needed.isdisjoint(run.after)]


def _execute(run: Run, workers: Workers) -> int:
    run.prepare()
    return workers.execute(run.folder)


def _failure(run: Run, call: Future[int]) -> str | None:
    """Why a run failed, which is added to its plan; None if it has a result."""
    error = call.exception()
    if isinstance(error, Held):  # its files are those of another process
        return str(error)
    if run_dir.is_finished(run.folder):
        return None
    if error is None:
        reason = run_dir.failure_of(run.folder, call.result())
    else:
        reason = first_line(error)
    run_dir.write_failure(run.folder, reason)
    return reason
