"""
Workers call functions: in processes of this machine (`Processes`) or on the nodes of a
Ray cluster (`RayWorkers`).

Whatever is executed elsewhere is submitted to one of them: the runs of a table, the
shards of vectors, the files of a text. `submit(function, *arguments)` gives a future of
the standard library, so that a caller waits for calls, and reads their results and
errors, in the same way wherever they are executed.
"""

import os
import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import FrameType
from typing import Any, NoReturn, Self

from elmo_tasks.errors import InputError
from elmo_tasks.processes import POLL_SECONDS, exit_with_parent
from elmo_tasks.ray_cluster import first_line, nodes_of

MAX_RETRIES = 5
"""How often a call on a cluster may lose its node or process."""


class WorkerLost(InputError):
    """A worker ended before the function that it called."""


class Workers(ABC):
    """
    Workers that call functions, `slots` at a time; other calls wait for their turn.

    What is called ends, with the processes that it has started, when the workers are
    closed, which the end of a `with` does, and when this process ends, also if it is
    killed.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        # A thread waits for each call, so that `_call` can be an ordinary function for
        # either kind of workers.
        self._threads = ThreadPoolExecutor(slots)
        self._calls: set[Future[Any]] = set()

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        name: str = "",
        memory: int = 0,
    ) -> Future[Any]:
        """
        Have a worker call a function of a module; function, arguments and result are
        pickled. `name` is shown by the tools of a cluster. A cluster chooses a node
        with `memory` bytes; on this machine the caller chooses `slots`.

        The future has the result or the error of the function, or the error
        `WorkerLost`.
        """
        call = self._threads.submit(self._call, function, arguments, name, memory)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return call

    def map(
        self, function: Callable[..., Any], *arguments: Iterable[Any]
    ) -> Iterator[Any]:
        """
        The results of a function for the first of each of the arguments, then the
        second, and so on.
        """
        calls = [self.submit(function, *one) for one in zip(*arguments, strict=True)]
        for call in calls:
            yield call.result()

    def close(self) -> None:
        """End all calls, also those that are being executed."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._end_calls()
        self._threads.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def share(self, slot: int) -> dict[str, str]:
        """
        The environment variables that limit a program to its share of the cores and
        GPUs, if one program runs in each slot. `slot` is its number, counted from 0.
        """

    @abstractmethod
    def _call(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        name: str,
        memory: int,
    ) -> Any:
        """Have a worker call a function, and wait for its result."""

    @abstractmethod
    def _end_calls(self) -> None:
        """
        End the calls that workers execute, and the workers; `_call` returns or raises
        an error then.
        """


class Processes(Workers):
    """
    Processes of this machine, at most `slots`, which start when calls need them. Each
    first makes an object, `make(*arguments)`, for `call_held`. One that is killed takes
    its own call with it, and another takes its place.
    """

    def __init__(
        self, slots: int, make: Callable[..., Any] = int, *arguments: Any
    ) -> None:
        super().__init__(slots)
        context = get_context("spawn")
        # The processes see when this end is closed, by `_end_calls` or because this
        # process has ended.
        closing, self._open = context.Pipe(duplex=False)
        begin = (os.getpid(), closing, make, arguments)
        self._new_pool = partial(ProcessPoolExecutor, 1, context, _begin, begin)
        # A pool of several processes ends all of them when one is killed.
        self._pools = [self._new_pool() for _ in range(slots)]
        # Two threads that shut a pool down at a time would close its pipes twice.
        self._shutting_down = threading.Lock()
        self._free: SimpleQueue[int] = SimpleQueue()
        for number in range(slots):
            self._free.put(number)

    def share(self, slot: int) -> dict[str, str]:
        import torch

        cores = max(1, (os.cpu_count() or 1) // self.slots)
        limit = os.environ.get("OMP_NUM_THREADS", "")
        if limit.isdecimal() and int(limit) > 0:
            cores = min(cores, int(limit))
        variables = thread_variables(cores)
        gpus = torch.cuda.device_count()
        has_choice = gpus > 1 and self.slots > 1
        if has_choice and "CUDA_VISIBLE_DEVICES" not in os.environ:
            variables["CUDA_VISIBLE_DEVICES"] = str(slot % gpus)
        return variables

    def _call(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        name: str,
        memory: int,
    ) -> Any:
        number = self._free.get()
        pool = self._pools[number]
        try:
            return pool.submit(_call_unless_closed, function, arguments).result()
        except (BrokenProcessPool, SystemExit) as error:
            with self._shutting_down:
                pool.shutdown()
            self._pools[number] = self._new_pool()
            if isinstance(error, SystemExit):
                raise WorkerLost("a worker process was ended by a signal") from None
            problem = "a worker process was killed (out of memory?)"
            hint = "run it again with fewer workers"
            raise WorkerLost(problem, hint=hint) from None
        finally:
            self._free.put(number)

    def _end_calls(self) -> None:
        if self._calls:
            self._open.close()
        for pool in list(self._pools):
            with self._shutting_down:
                pool.shutdown()
        self._open.close()


class RayWorkers(Workers):
    """
    Workers on the nodes of a cluster; `ray` is from `ray_cluster.connected`. A call
    takes `cores` and `gpus` of a node. One that loses its node or process is repeated
    on another, at most `MAX_RETRIES` times.
    """

    def __init__(self, ray: Any, slots: int, *, cores: int = 1, gpus: int = 0) -> None:
        super().__init__(slots)
        self.ray = ray
        self.cores = cores
        self._closed: Future[None] = Future()
        nodes = nodes_of(ray)
        memories = [int(node["Resources"].get("memory", 0)) for node in nodes]
        self._largest_memory = max(memories, default=0)
        # With `max_calls` at 0, a process of a node keeps what it has loaded for the
        # next call, also one with a GPU.
        options = {"num_cpus": cores, "num_gpus": gpus, "max_calls": 0}
        self._remote = cache(ray.remote(max_retries=MAX_RETRIES, **options))

    def share(self, slot: int) -> dict[str, str]:
        return thread_variables(self.cores)  # Ray itself chooses the GPU

    def _call(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        name: str,
        memory: int,
    ) -> Any:
        needs = {"name": name, "memory": min(memory, self._largest_memory)}
        reference = self._remote(function).options(**needs).remote(*arguments)
        answer = reference.future()
        wait([answer, self._closed], return_when=FIRST_COMPLETED)
        if not answer.done():
            self.ray.cancel(reference, force=True)
            raise CancelledError
        try:
            return answer.result()
        except self.ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, Exception):  # the function's own, as on this machine
                raise cause from None
            problem = f"a worker on Ray failed: {first_line(error)}"
            raise WorkerLost(problem, hint="the same command resumes") from error

    def _end_calls(self) -> None:
        if not self._closed.done():
            self._closed.set_result(None)


def thread_variables(cores: int) -> dict[str, str]:
    """The environment variables that make a program use this number of threads."""
    return {"OMP_NUM_THREADS": str(cores), "MKL_NUM_THREADS": str(cores)}


_held: list[Any] = []
"""In a process of `Processes`: the object that it has made."""

_closing: list[Connection] = []
"""
In a process of `Processes`: a pipe that the process which has started it closes to end
calls.
"""

_ENDING = ("SIGINT", "SIGHUP", "SIGTERM")
"""Signals that end a call. A terminal's Ctrl-C and its end reach workers, too."""


def call_held(method: str, *arguments: Any) -> Any:
    """In a process of `Processes`: calls a method of the object that it has made."""
    return getattr(_held[0], method)(*arguments)


def _begin(
    parent: int,
    closing: Connection,
    make: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    for name in _ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    exit_with_parent(parent)
    _closing.append(closing)
    _held.append(make(*arguments))
    threading.Thread(target=_end_when_closed, daemon=True).start()


def _end_when_closed() -> None:
    _closing[0].poll(None)
    main = threading.main_thread().ident
    if main is not None:
        signal.pthread_kill(main, signal.SIGTERM)  # interrupts what it waits for


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """
    Ends the call without a traceback, after it has removed its temporary files and
    stopped what it has started. Another signal would interrupt that, and is ignored.
    """
    for name in _ENDING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    raise SystemExit(128 + number)


def _call_unless_closed(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    if _closing[0].poll(0):  # before this process had started
        raise SystemExit(128 + signal.SIGTERM)
    try:
        return function(*arguments)
    except SystemExit as ended:
        # The pool sends this error to the process that waits for the call, and would
        # then wait for another call.
        exit_soon = threading.Timer(POLL_SECONDS, os._exit, [ended.code])
        exit_soon.daemon = True
        exit_soon.start()
        raise
