"""
Trained archives, each in processes of its own, which are ended and started again when an
answer takes too long.

pebble's `ProcessPool` was tried in place of this: it ends for good when an idle process
dies, and starts no other.
"""

import asyncio
import json
import logging
import math
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from enum import Enum, auto
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from starlette.exceptions import HTTPException

from elmo_tasks.errors import InputError
from elmo_tasks.web.worker import ANSWER, INPUT, Opening, work

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_processes = get_context("forkserver")
_processes.set_forkserver_preload(["elmo_tasks.web.preloaded"])


class State(Enum):
    """Of a worker's process."""

    LOADING = auto()  # it loads the archive
    READY = auto()  # it can answer
    LOST = auto()  # it could not load the archive again; a request tries once more
    CLOSED = auto()  # the server ends


class Running(NamedTuple):
    """A process, and the channel to it."""

    process: BaseProcess
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def receive(self) -> tuple[int, bool, bytes]:
        """An answer's status, whether the process has to be replaced, and the body."""
        head = await self.reader.readexactly(ANSWER.size)
        status, replace, length = ANSWER.unpack(head)
        return status, replace, await self.reader.readexactly(length)

    def kill(self) -> None:
        """Sends the signal to end at once."""
        self.process.kill()
        self.writer.close()


class Worker:
    """
    A process of an archive, which answers one input at a time. A process that has died,
    or is late, or has grown, is replaced. A request holds the `lock`.
    """

    def __init__(self, archive: Path, opening: Opening) -> None:
        self._archive = archive
        self._opening = opening
        self._running: Running | None = None
        self._loading: asyncio.Task[Any] | None = None
        self.state = State.LOADING
        self.lock = asyncio.Lock()
        self.restarts = 0
        self.seconds_to_load = 1

    async def load(self) -> dict[str, Any]:
        """
        Starts the process; returns what the page shows of the archive. Raises
        `InputError` if it cannot be used.
        """
        began = time.monotonic()
        ours, theirs = socket.socketpair()
        with theirs:
            process = await _in_thread(self._start, theirs)
        reader, writer = await asyncio.open_connection(sock=ours)
        self._running = Running(process, reader, writer)
        try:
            status, _, body = await self._running.receive()
        except (asyncio.IncompleteReadError, OSError):
            raise InputError(
                "the process that loads it was killed (out of memory?)",
                file=self._archive,
            ) from None
        described: dict[str, Any] = json.loads(body)
        if status != 200:
            raise InputError(described["error"])
        self.seconds_to_load = math.ceil(time.monotonic() - began)
        loop = asyncio.get_running_loop()
        loop.add_reader(process.sentinel, self.replace)
        self.state = State.READY
        return described

    async def compute(self, data: bytes) -> tuple[int, bytes]:
        """
        The status and the body for an input in JSON. Raises `OSError` or
        `asyncio.IncompleteReadError` if the process dies, or cannot be started.

        Where this is cancelled before the answer is there, so by a time limit, the
        process is replaced.
        """
        if self._running is None or self.state is not State.READY:
            raise ConnectionError("the process cannot be started")
        replace = True
        try:
            self._running.writer.write(INPUT.pack(len(data)) + data)
            status, replace, body = await self._running.receive()
        finally:
            if replace:
                self.replace()
        return status, body

    def replace(self) -> None:
        """Ends the process and starts another, if this is not being done already."""
        if self.state in (State.LOADING, State.CLOSED):
            return
        self._forget()
        self.state = State.LOADING
        self.restarts += 1
        self._loading = asyncio.create_task(self._load_again())

    def close(self) -> None:
        """Ends the process; what it computes is not answered."""
        if self.state is State.READY:
            self._forget()
        self.state = State.CLOSED
        if self._loading is not None:
            self._loading.cancel()
        if self._running is not None:
            self._running.kill()
            self._running.process.join()

    def _forget(self) -> None:
        """No longer listens to the end of the process."""
        if self._running is not None:
            loop = asyncio.get_running_loop()
            loop.remove_reader(self._running.process.sentinel)

    async def _load_again(self) -> None:
        ended = self._running
        self._running = None
        try:
            if ended is not None:
                ended.kill()
                await _in_thread(ended.process.join)
            await self.load()
        except (InputError, OSError) as error:
            logger.error("a model cannot be started again: %s", error)
            if self._running is not None:
                self._running.kill()
                self._running = None
            self.state = State.LOST
        finally:
            self._loading = None

    def _start(self, channel: socket.socket) -> BaseProcess:
        arguments = self._archive, self._opening, channel
        process = _processes.Process(target=work, args=arguments, daemon=True)
        process.start()
        if self.state is State.CLOSED:  # meanwhile
            process.kill()
        return process


class ServedModel:
    """
    The processes of an archive, `workers` of them. Each request goes to a free one;
    while there is none, requests wait in their order. All methods belong to one event
    loop.
    """

    def __init__(self, archive: Path, opening: Opening, *, workers: int) -> None:
        self._workers = [Worker(archive, opening) for _ in range(workers)]
        self._free = asyncio.Semaphore(workers)
        self.waiting = 0
        """Requests that wait for a free process."""

    @property
    def ready(self) -> int:
        """Processes that can answer."""
        return sum([worker.state is State.READY for worker in self._workers])

    @property
    def computing(self) -> int:
        """Requests that have a process."""
        return sum([worker.lock.locked() for worker in self._workers])

    @property
    def restarts(self) -> int:
        """Processes that were replaced."""
        return sum([worker.restarts for worker in self._workers])

    async def load(self) -> dict[str, Any]:
        """
        Starts the processes; returns what the page shows of the archive. Raises
        `InputError` if it cannot be used.
        """
        described = await asyncio.gather(*[worker.load() for worker in self._workers])
        return described[0]

    async def answer(
        self, data: bytes, *, timeout: float, is_gone: Callable[[], Awaitable[bool]]
    ) -> tuple[int, bytes]:
        """
        The status and the body for an input in JSON, which is not begun if its client
        `is_gone` when its turn comes. Raises `HTTPException` if its turn does not come
        within half of `timeout` seconds, the answer is not there within all of them,
        all processes are being started again, or the one that computes it dies.
        """
        latest = asyncio.get_running_loop().time() + timeout / 2
        try:
            async with asyncio.timeout(timeout):
                await self._turn(latest)
                try:
                    worker = self._take()
                    async with worker.lock:
                        self._require_ready(worker)
                        if await is_gone():
                            problem = "the client has closed the connection"
                            raise HTTPException(400, problem)
                        return await worker.compute(data)
                finally:
                    self._free.release()
        except TimeoutError:
            problem = f"no answer within {timeout:g} seconds"
            raise self._unavailable(problem) from None
        except (asyncio.IncompleteReadError, OSError):
            problem = "the process of the model was killed (out of memory?)"
            raise self._unavailable(problem) from None

    def close(self) -> None:
        """Ends the processes; what they compute is not answered."""
        for worker in self._workers:
            worker.close()

    async def _turn(self, latest: float) -> None:
        """Waits for a free process."""
        self.waiting += 1
        try:
            async with asyncio.timeout_at(latest):
                await self._free.acquire()
        except TimeoutError:
            raise self._unavailable("the model is busy") from None
        finally:
            self.waiting -= 1

    def _require_ready(self, worker: Worker) -> None:
        """Raises `HTTPException` if the process is being started again."""
        if worker.state is State.LOST:
            worker.replace()
        if worker.state is not State.READY:
            raise self._unavailable("the model is being started again")

    def _take(self) -> Worker:
        """A free process: one that can answer at once, if there is one."""
        free = [worker for worker in self._workers if not worker.lock.locked()]
        for worker in free:
            if worker.state is State.READY:
                return worker
        return free[0]

    def _unavailable(self, problem: str) -> HTTPException:
        """
        An error for a request that may be sent again when a process has been started
        again.
        """
        seconds = min(worker.seconds_to_load for worker in self._workers)
        return HTTPException(503, problem, {"Retry-After": str(seconds)})


async def _in_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """
    What a function that blocks returns. `asyncio.to_thread` would delay the end of the
    program until it has returned: the first process starts when the packages are
    imported that all have in common.
    """
    future: Future[Result] = Future()
    future.set_running_or_notify_cancel()

    def call() -> None:
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    return await asyncio.wrap_future(future)
