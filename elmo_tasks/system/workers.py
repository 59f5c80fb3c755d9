"""
Functions that are called in other processes of this machine.

`ray_cluster.RayExecutor` calls them on the nodes of a cluster. Both are executors of
`concurrent.futures`: `submit(function, ...)` gives a future, so that a caller reads
results and errors in the same way wherever they come from.

Python's `ProcessPoolExecutor` is not used: its processes share one pipe for results,
so that it waits for ever if one of them is killed while it sends.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
from queue import SimpleQueue
from typing import Any

from elmo_tasks.errors import InputError


class WorkerLost(InputError):
    """A worker ended before the function that it called."""


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """
    An executor that calls functions of modules in `count` new processes. They end when
    the `with` does: after the calls that have begun, or at once if there is an
    exception, such as that of Ctrl-C. They also end when this process does, even if it
    is killed.

    Raises `WorkerLost` if one of the processes ends while it starts. So does each call
    that has not returned when one ends by itself later.
    """
    pool = _Processes(count)
    try:
        pool.start()
        yield pool
        pool.shutdown(cancel_futures=True)
    except BaseException:
        pool.kill()
        pool.shutdown(cancel_futures=True)
        raise


class _Worker:
    """
    A process, and the only connection to it: when the process ends, whoever reads from
    the connection gets an error.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(other_end,))
        try:
            self._process.start()
        except RuntimeError as error:
            if "bootstrapping" not in str(error):
                raise
            # This is a worker, which imports a script that starts workers when
            # imported. The process that started this one says so in one line.
            raise SystemExit(1) from None
        other_end.close()

    def wait_until_ready(self) -> None:
        """Raises `WorkerLost` if the process ends while it starts."""
        try:
            self._connection.recv_bytes()
        except (EOFError, OSError):
            problem = "a worker process ended while it started"
            hint = 'call this below `if __name__ == "__main__":` if it is in a script'
            raise WorkerLost(problem, hint=hint) from None

    def call(self, pickled: bytes) -> bytes:
        """The pickled answer to a pickled call. `WorkerLost` if the process ends."""
        try:
            self._connection.send_bytes(pickled)
            return self._connection.recv_bytes()
        except (EOFError, OSError):
            problem = "a worker process was killed (out of memory?)"
            hint = "run it again with fewer workers"
            raise WorkerLost(problem, hint=hint) from None

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._connection.close()
        self._process.join()


class _Processes(Executor):
    """Calls functions in workers. A thread for each call waits for its answer."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._threads = ThreadPoolExecutor(count)
        self._workers: list[_Worker] = []
        self._free: SimpleQueue[_Worker] = SimpleQueue()

    def start(self) -> None:
        """Start the processes. Raises `WorkerLost` if one ends while it starts."""
        for _ in range(self._count):
            self._workers.append(_Worker())
        for worker in self._workers:
            worker.wait_until_ready()
            self._free.put(worker)

    def submit(
        self, function: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        return self._threads.submit(self._call, partial(function, *args, **kwargs))

    def _call(self, call: Callable[[], Any]) -> Any:
        pickled = pickle.dumps(call)
        worker = self._free.get()
        try:
            answer = worker.call(pickled)
        except WorkerLost:
            self.kill()  # so that other calls end too
            raise
        finally:
            self._free.put(worker)
        has_returned, result = pickle.loads(answer)
        if not has_returned:
            raise result
        return result

    def kill(self) -> None:
        for worker in self._workers:
            worker.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for worker in self._workers:
            worker.close()


def _serve(connection: Connection) -> None:
    """In a new process: answer calls."""
    # Ctrl-C reaches all processes of a terminal. The first of them ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    connection.send_bytes(b"ready")
    while True:
        try:
            call = connection.recv_bytes()
        except EOFError:
            return
        connection.send_bytes(_answer(call))


def _answer(pickled: bytes) -> bytes:
    """Whether a pickled call has returned, and its result or else its error, pickled."""
    try:
        return pickle.dumps((True, pickle.loads(pickled)()))
    except BaseException as error:
        return pickle.dumps((False, _sendable(error)))


def _sendable(error: BaseException) -> object:
    """
    The error with its traceback, or a `RuntimeError` with the text of both if pickle
    cannot write the error or read it again.
    """
    with_traceback: object = ExceptionWithTraceback(error, error.__traceback__)
    try:
        pickle.loads(pickle.dumps(with_traceback))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return with_traceback


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()  # type: ignore[union-attr]
    os._exit(1)
