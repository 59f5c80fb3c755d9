"""
Functions that are called in other processes of this machine.

`ray_cluster.RayExecutor` calls them on the nodes of a cluster. Both are executors of
`concurrent.futures`: `submit(function, ...)` gives a future, so that a caller reads
results and errors in the same way wherever they come from.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait

from elmo_tasks.errors import InputError

_SECONDS_BETWEEN_LOOKS = 0.5


class WorkerLost(InputError):
    """A worker ended before the function that it called."""


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """
    An executor that calls functions of modules in `count` new processes. They end when
    the `with` does: after their calls, or at once if there is an exception, such as
    that of Ctrl-C. They also end when this process does, even if it is killed.

    Raises `WorkerLost` if one of the processes ends by itself, at any time.
    """
    context = multiprocessing.get_context("spawn")
    closing, open_end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(count, context, _begin, (closing,))
    stopped = threading.Event()
    try:
        _start(pool)
        watching = threading.Thread(target=_watch, args=(pool, open_end, stopped))
        watching.start()
        yield pool
    except BrokenProcessPool:
        open_end.close()
        problem = "a worker process was killed (out of memory?)"
        hint = "run it again with fewer workers"
        raise WorkerLost(problem, hint=hint) from None
    except BaseException:
        open_end.close()
        raise
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)
        open_end.close()
        closing.close()


def _start(pool: ProcessPoolExecutor) -> None:
    """Start the processes. Raises `WorkerLost` if one ends while it starts."""
    try:
        pool.submit(int).result()
    except BrokenProcessPool:
        problem = "a worker process ended while it started"
        hint = 'call this below `if __name__ == "__main__":` if it is in a script'
        raise WorkerLost(problem, hint=hint) from None
    except RuntimeError as error:
        if "bootstrapping" not in str(error):
            raise
        # This is a worker, which imports a script that starts workers when imported.
        # The process that started this one says so in one line.
        raise SystemExit(1) from None


def _watch(
    pool: ProcessPoolExecutor, open_end: Connection, stopped: threading.Event
) -> None:
    """
    Has the pool notice a process that was killed while it sent a result: Python's pool
    then waits for the rest of it, for ever, since it has the other end open itself.
    """
    while not stopped.wait(_SECONDS_BETWEEN_LOOKS):
        started = list((pool._processes or {}).values())
        ended = wait([process.sentinel for process in started], timeout=0)
        if ended and not stopped.is_set():
            open_end.close()  # which ends the other processes
            pool._result_queue._writer.close()  # type: ignore[attr-defined]
            return


def _begin(closing: Connection) -> None:
    """In a new process."""
    # Ctrl-C reaches all processes of a terminal. The first of them ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_when_closed, args=(closing,), daemon=True).start()


def _end_when_closed(closing: Connection) -> None:
    """The pipe is closed by `processes`, or because the process that has it ended."""
    closing.poll(None)
    os._exit(1)
