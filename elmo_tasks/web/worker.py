"""A queue of requests and the one thread that computes their answers, in batches."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch

Answer = bytes | Exception
Compute = Callable[[Sequence[Any]], Sequence[Answer]]
"""The inputs of a batch -> an answer for each, in order."""

BATCH_WORDS = 4096
"""The largest batch, in words with padding; a longer input is computed alone."""


class Refused(Exception):
    """No answer, with an HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class AbandonedError(Exception):
    """Nobody waits for the batch any more."""


@dataclass(eq=False)
class Job:
    """An input that waits for its answer."""

    data: Any
    words: int
    answer: asyncio.Future[bytes]


class Worker:
    """
    Answers one batch at a time in its own thread: what waits when the thread is free, in order, at most `batch_size`
    inputs. An input that comes alone is computed alone. All methods but `check` belong to the event loop's thread.

    # Parameters

    compute : `Compute`
        Called in the worker's thread only.
    queue : `int`
        How many inputs can wait.
    batch_size : `int`
    threads : `int`
        Of PyTorch, for this worker.
    """

    def __init__(self, compute: Compute, *, queue: int, batch_size: int, threads: int) -> None:
        self._compute, self._queue, self._batch_size = compute, queue, batch_size
        self._thread = ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(threads,))
        self._stopping = False
        self._running: list[Job] = []
        self.waiting: deque[Job] = deque()
        self.batches: Counter[int] = Counter()  # by size

    async def answer(self, data: Any, words: int, *, gone: asyncio.Future, timeout: float) -> bytes:
        """
        The answer to an input. Raises what `compute` gave, or `Refused` if the queue is full (429), the time is over or
        the server stops (503), or the client has left, when `gone` is done (499).
        """
        if self._stopping:
            raise Refused(503, "the server is stopping")
        if len(self.waiting) >= self._queue:
            raise Refused(429, f"{self._queue} requests are waiting for this model")
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
        """A hook of the model's modules: raises `AbandonedError` in the worker's thread if nobody waits any more."""
        if all(job.answer.done() for job in self._running):
            raise AbandonedError

    def stop(self) -> None:
        """Refuses what waits and what comes; what runs is finished."""
        self._stopping = True
        for job in self.waiting:
            if not job.answer.done():
                job.answer.set_exception(Refused(503, "the server is stopping"))
        self.waiting.clear()
        self._thread.shutdown(wait=False)

    def _start(self) -> None:
        if self._running or not self.waiting:
            return
        self._running = self._next_batch()
        self.batches[len(self._running)] += 1
        inputs = [job.data for job in self._running]
        work = asyncio.get_running_loop().run_in_executor(self._thread, self._compute, inputs)
        work.add_done_callback(self._finish)

    def _next_batch(self) -> list[Job]:
        batch = [self.waiting.popleft()]
        longest = batch[0].words
        while self.waiting and len(batch) < self._batch_size:
            longest = max(longest, self.waiting[0].words)
            if longest * (len(batch) + 1) > BATCH_WORDS:
                break
            batch.append(self.waiting.popleft())
        return batch

    def _finish(self, work: asyncio.Future[Sequence[Answer]]) -> None:
        jobs, self._running = self._running, []
        error = work.exception()
        answers = work.result() if error is None else [error] * len(jobs)
        for job, answer in zip(jobs, answers, strict=True):
            if job.answer.done():
                continue
            if isinstance(answer, bytes):
                job.answer.set_result(answer)
            else:
                job.answer.set_exception(answer)
        self._start()
