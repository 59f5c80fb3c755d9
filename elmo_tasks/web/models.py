"""
Trained archives, each in processes of its own, which are ended and started again when an
answer takes too long.
"""

import asyncio
import json
import logging
import math
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from elmo_tasks.errors import InputError
from elmo_tasks.web.worker import ANSWER, INPUT, Opening, work

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_processes = get_context("forkserver")
_processes.set_forkserver_preload(["elmo_tasks.web.preloaded"])


class Refused(InputError):
    """
    A request without an answer, with its HTTP status; `retry` is in how many seconds
    another attempt makes sense, `allow` the methods that the path has.
    """

    def __init__(
        self,
        status: int,
        problem: str,
        *,
        retry: int | None = None,
        allow: str | None = None,
    ) -> None:
        super().__init__(problem)
        self.status = status
        self.headers: dict[str, str] = {}
        if retry is not None:
            self.headers["Retry-After"] = str(retry)
        if allow is not None:
            self.headers["Allow"] = allow


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
    or was ended, is replaced; `changed` is called when this can answer again, or no
    longer.
    """

    def __init__(
        self, archive: Path, opening: Opening, *, changed: Callable[[], None]
    ) -> None:
        self._archive = archive
        self._opening = opening
        self._changed = changed
        self._running: Running | None = None
        self._restart: asyncio.Task[None] | None = None
        self._closed = False
        self.is_taken = False
        """Whether it belongs to a request."""
        self.restarts = 0
        self.seconds_to_load = 1

    @property
    def is_up(self) -> bool:
        """Whether it has a process that answers."""
        if self._running is None or self._restart is not None:
            return False
        return not self._running.reader.at_eof()  # as when it was killed

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
        loop.add_reader(process.sentinel, self._died, process)
        return described

    async def compute(self, data: bytes) -> tuple[int, bytes]:
        """
        The status and the body for an input in JSON. Raises `OSError` or
        `asyncio.IncompleteReadError` if the process dies of it.

        Where this is cancelled before the answer is there, so by a time limit, the
        process is ended and started again.
        """
        if self._running is None or not self.is_up:  # since it was handed out
            raise ConnectionError("the process has ended")
        replace = True
        try:
            self._running.writer.write(INPUT.pack(len(data)) + data)
            status, replace, body = await self._running.receive()
        finally:
            if replace:
                self.start_again()
        return status, body

    def start_again(self) -> None:
        """Replaces the process, if this is not being done already."""
        if self._closed or self._restart is not None:
            return
        self._forget()
        self.restarts += 1
        self._restart = asyncio.create_task(self._load_again())
        self._changed()

    def close(self) -> None:
        """Ends the process; what it computes is not answered."""
        self._closed = True
        if self._restart is not None:
            self._restart.cancel()
        if self._running is not None:
            self._forget()
            self._running.kill()
            self._running.process.join()

    def _died(self, process: BaseProcess) -> None:
        """What is called when a process has ended."""
        if self._running is not None and process is self._running.process:
            self.start_again()

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
        finally:
            self._restart = None
            self._changed()

    def _start(self, channel: socket.socket) -> BaseProcess:
        arguments = self._archive, self._opening, channel
        process = _processes.Process(target=work, args=arguments, daemon=True)
        process.start()
        if self._closed:  # meanwhile
            process.kill()
        return process


class ServedModel:
    """
    The processes of an archive, `workers` of them. Each request goes to a free one;
    while there is none, requests wait in their order. All methods belong to one event
    loop.
    """

    def __init__(self, archive: Path, opening: Opening, *, workers: int) -> None:
        self.workers: list[Worker] = []
        for _ in range(workers):
            self.workers.append(Worker(archive, opening, changed=self._hand_out))
        self._waiting: deque[asyncio.Future[Worker]] = deque()

    @property
    def waiting(self) -> int:
        """Requests that wait for a free process."""
        return len(self._waiting)

    async def load(self) -> dict[str, Any]:
        """
        Starts the processes; returns what the page shows of the archive. Raises
        `InputError` if it cannot be used.
        """
        described = await asyncio.gather(*[worker.load() for worker in self.workers])
        return described[0]

    async def answer(
        self, data: Any, *, wait: float, gone: Callable[[], bool]
    ) -> tuple[int, bytes]:
        """
        The status and the body for an input, which is not begun if its client is `gone`
        when its turn comes. Raises `Refused` if that is not within `wait` seconds, all
        processes are being started again, or the one that computes it ends.

        Where this is cancelled before the answer is there, so by a time limit, the
        process is ended and started again.
        """
        try:
            async with asyncio.timeout(wait):
                worker = await self._free_worker()
        except TimeoutError:
            raise self.unavailable("the model is busy") from None
        try:
            if gone():
                raise Refused(400, "the client has closed the connection")
            return await worker.compute(json.dumps(data).encode())
        except (asyncio.IncompleteReadError, OSError):
            problem = "the process of the model was killed (out of memory?)"
            raise self.unavailable(problem) from None
        finally:
            worker.is_taken = False
            self._hand_out()

    def unavailable(self, problem: str) -> Refused:
        """
        An error for a request that may be sent again when a process has been started
        again.
        """
        seconds = min(worker.seconds_to_load for worker in self.workers)
        return Refused(503, problem, retry=seconds)

    def close(self) -> None:
        """Ends the processes; what they compute is not answered."""
        for worker in self.workers:
            worker.close()

    async def _free_worker(self) -> Worker:
        """A process that is up and now belongs to the caller, who waits for it."""
        for worker in self.workers:
            if not worker.is_up:  # it could not be loaded, or is being loaded
                worker.start_again()
        waiter: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._hand_out()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif not waiter.cancelled():  # its turn came at the same moment
                waiter.result().is_taken = False
                self._hand_out()
            raise

    def _hand_out(self) -> None:
        """
        Gives free processes to the requests that have waited longest; refuses all that
        wait while no process is up.
        """
        up = [worker for worker in self.workers if worker.is_up]
        free = [worker for worker in up if not worker.is_taken]
        while self._waiting and (free or not up):
            waiter = self._waiting.popleft()
            if waiter.done():  # no longer waits
                continue
            if not up:
                problem = "the model is being started again"
                waiter.set_exception(self.unavailable(problem))
            else:
                worker = free.pop(0)
                worker.is_taken = True
                waiter.set_result(worker)


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
