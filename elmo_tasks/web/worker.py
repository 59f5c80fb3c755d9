"""A queue of requests, and the thread that computes their answers in batches."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch

Outcome = bytes | Exception
BATCH_WORDS = 4096
"""The largest batch in words, with padding; a longer input is computed alone."""


class Refused(Exception):
    """No answer, with an HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(eq=False)
class Job:
    """An input and its length in words, which wait for an answer."""

    data: Any
    words: int
    answer: asyncio.Future[bytes]


class Worker:
    """
    Computes one batch at a time in its own thread: what waits when the thread is free, in order. An input that comes
    alone is computed alone. `compute` gets the inputs of a batch and returns their answers. At most `queue` inputs wait
    and `batch_size` form a batch; PyTorch uses `threads`. All methods but `check` are for the event loop's thread.
    """

    def __init__(
        self, compute: Callable[[Sequence[Any]], Sequence[Outcome]], *, queue: int, batch_size: int, threads: int
    ) -> None:
        self._compute, self._queue, self._batch_size = compute, queue, batch_size
        self._thread = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(threads,))
        self.running: list[Job] = []
        self.waiting: deque[Job] = deque()

    async def answer(self, data: Any, words: int, *, gone: asyncio.Future, timeout: float) -> bytes:
        """
        The answer to an input. Raises the error that `compute` returned, or `Refused` if the queue is full (429), the
        time has passed (503), or `gone` is done: the client has left (499).
        """
        if len(self.waiting) >= self._queue:
            raise Refused(429, f"{self._queue} requests are waiting for this model already")
        job = Job(data, words, asyncio.get_running_loop().create_future())
        self.waiting.append(job)
        self._start()
        try:
            await asyncio.wait({job.answer, gone}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if job.answer.done():
                return job.answer.result()
        finally:
            job.answer.cancel()
            if job in self.waiting:
                self.waiting.remove(job)
        raise Refused(499, "the client has left") if gone.done() else Refused(503, f"no answer in {timeout:g} seconds")

    def check(self, *_: Any) -> None:
        """A hook for the model's modules: raises `Refused` if nobody waits for the running batch."""
        if self.running and all(job.answer.done() for job in self.running):
            raise Refused(499, "nobody waits for the answer")

    def _start(self) -> None:
        if self.running or not self.waiting:
            return
        self.running = self._next_batch()
        inputs = [job.data for job in self.running]
        asyncio.get_running_loop().run_in_executor(self._thread, self._compute, inputs).add_done_callback(self._finish)

    def _next_batch(self) -> list[Job]:
        batch = [self.waiting.popleft()]
        longest = batch[0].words
        while self.waiting and len(batch) < self._batch_size:
            longest = max(longest, self.waiting[0].words)
            if longest * (len(batch) + 1) > BATCH_WORDS:
                break
            batch.append(self.waiting.popleft())
        return batch

    def _finish(self, computed: asyncio.Future[Sequence[Outcome]]) -> None:
        jobs, self.running = self.running, []
        for job, answer in zip(jobs, computed.result(), strict=True):
            if job.answer.done():
                continue
            if isinstance(answer, bytes):
                job.answer.set_result(answer)
            else:
                job.answer.set_exception(answer)
        self._start()
