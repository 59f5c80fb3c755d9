"""
Trained archives, each in a process of its own, which is ended and started again when an
answer takes too long.
"""

import asyncio
import json
import logging
import math
import socket
import threading
import time
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
    another attempt makes sense.
    """

    def __init__(self, status: int, problem: str, *, retry: int | None = None) -> None:
        super().__init__(problem)
        self.status = status
        self.retry = retry


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


class ServedModel:
    """
    The process of an archive, which answers one input at a time, in their order. All
    methods belong to one event loop.
    """

    def __init__(self, archive: Path, opening: Opening) -> None:
        self._archive = archive
        self._opening = opening
        self._turn = asyncio.Lock()
        self._running: Running | None = None
        self._restart: asyncio.Task[None] | None = None
        self._closed = False
        self._seconds_to_load = 1

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
        self._seconds_to_load = math.ceil(time.monotonic() - began)
        return described

    async def answer(
        self, data: Any, *, wait: float, gone: Callable[[], bool]
    ) -> tuple[int, bytes]:
        """
        The status and the body for an input, which is not begun if its client is `gone`
        when its turn comes. Raises `Refused` if that is not within `wait` seconds, the
        process is being started again, or ends.

        Where this is cancelled before the answer is there, so by a time limit, the
        process is ended and started again.
        """
        try:
            async with asyncio.timeout(wait):
                await self._turn.acquire()
        except TimeoutError:
            raise self.unavailable("the model is busy") from None
        try:
            if gone():
                raise Refused(400, "the client has closed the connection")
            return await self._compute(json.dumps(data).encode())
        finally:
            self._turn.release()

    def unavailable(self, problem: str) -> Refused:
        """
        An error for a request that may be sent again when the model has been started
        again.
        """
        return Refused(503, problem, retry=self._seconds_to_load)

    def close(self) -> None:
        """Ends the process; what it computes is not answered."""
        self._closed = True
        if self._restart is not None:
            self._restart.cancel()
        if self._running is not None:
            self._running.kill()
            self._running.process.join()

    async def _compute(self, data: bytes) -> tuple[int, bytes]:
        if self._restart is None and self._running is None:  # it could not be loaded
            self._start_again()
        if self._restart is not None or self._running is None:
            raise self.unavailable("the model is being started again")
        replace = True
        try:
            self._running.writer.write(INPUT.pack(len(data)) + data)
            status, replace, body = await self._running.receive()
        except (asyncio.IncompleteReadError, OSError):
            problem = "the process of the model was killed (out of memory?)"
            raise self.unavailable(problem) from None
        finally:
            if replace:
                self._start_again()
        return status, body

    def _start_again(self) -> None:
        if not self._closed:
            self._restart = asyncio.create_task(self._load_again())

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

    def _start(self, channel: socket.socket) -> BaseProcess:
        arguments = self._archive, self._opening, channel
        process = _processes.Process(target=work, args=arguments, daemon=True)
        process.start()
        if self._closed:  # meanwhile
            process.kill()
        return process


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
