"""Step 3: have workers execute the runs of a table, as many at a time as they can."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.process import Workers
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.system.ray_cluster import first_line


def execute_all(
    runs: list[Run], workers: Workers, *, started: Callable[[Run], None]
) -> Iterator[tuple[Run, str | None]]:
    """
    Execute runs, which come after those that they need; a run is left out if one of
    these fails. Calls `started` with each, in a thread. Yields each that has ended, and
    why, if it failed. At the end, or when this is closed, the workers are closed, which
    stops what they execute.
    """
    calls: dict[str, Future[str | None]] = {}
    ended = {}
    threads = ThreadPoolExecutor(workers.slots)
    try:
        # A call that waits for others takes a thread, and so comes last.
        for run in sorted(runs, key=lambda run: bool(run.after)):
            needed = [calls[digest] for digest in run.after if digest in calls]
            call = threads.submit(_execute, run, needed, workers, started)
            calls[run.digest] = call
            ended[call] = run
        for call in as_completed(ended):
            run, error = ended[call], call.exception()
            if error is not None:
                yield run, str(error)
                continue
            failure = call.result()
            if failure is not None:
                run_dir.write_failure(run.folder, failure)
            yield run, failure
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        workers.close()
        threads.shutdown()


def _execute(
    run: Run,
    needed: list[Future[str | None]],
    workers: Workers,
    started: Callable[[Run], None],
) -> str | None:
    """
    Why a run failed; None if it has a result. Raises `InputError` if it cannot begin.
    """
    wait(needed)
    if any(call.exception() or call.result() for call in needed):
        raise InputError("a run that it needs failed")
    run.prepare()
    started(run)
    try:
        code = workers.execute(run.folder)
    except Exception as error:  # the worker is lost
        return first_line(error)
    if run_dir.is_finished(run.folder):
        return None
    return run_dir.failure_of(run.folder, code)
