"""The queue: batches, limits, and requests whose clients have left."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.web.models import ServedModel
from elmo_tasks.web.worker import Outcome, Refused, Worker
from tests.archives.make import STORED


class Gate:
    """A computation that waits until it is open; it notes its batches."""

    def __init__(self, **options: int) -> None:
        self.open, self.batches = threading.Event(), list[list[Any]]()
        self.worker = Worker(self._compute, **{"queue": 5, "batch_size": 4, "threads": 1, **options})

    def _compute(self, inputs: Sequence[Any]) -> list[Outcome]:
        self.batches.append(list(inputs))
        self.open.wait(10)
        return [InputError("invalid") if one == "bad" else str(one).encode() for one in inputs]

    def ask(self, data: Any, *, words: int = 1, timeout: float = 10, gone: Any = None) -> asyncio.Task[bytes]:
        left = gone or asyncio.get_running_loop().create_future()
        return asyncio.ensure_future(self.worker.answer(data, words, gone=left, timeout=timeout))


async def status(task: asyncio.Task[bytes]) -> int:
    with pytest.raises(Refused) as caught:
        await task
    return caught.value.status


def test_batches_are_limited_and_in_order_and_an_invalid_input_harms_no_other() -> None:
    async def test() -> None:
        gate = Gate()
        tasks = [gate.ask(data, words=1500 if data == "long" else 10) for data in ("a", "b", "bad", "long", "c", "d")]
        await asyncio.sleep(0)
        gate.open.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(found.pop(2), InputError) and found == [b"a", b"b", b"long", b"c", b"d"]
        assert gate.batches == [["a"], ["b", "bad"], ["long", "c"], ["d"]]

    asyncio.run(test())


def test_a_full_queue_refuses() -> None:
    async def test() -> None:
        gate = Gate(queue=2)
        tasks = [gate.ask(number) for number in range(4)]
        assert await status(tasks[3]) == 429
        gate.open.set()
        assert await asyncio.gather(*tasks[:3]) == [b"0", b"1", b"2"]

    asyncio.run(test())


def test_the_worker_continues_after_a_time_limit() -> None:
    async def test() -> None:
        gate = Gate()
        tasks = [gate.ask(number, timeout=0.05) for number in range(2)]
        assert [await status(task) for task in tasks] == [503, 503]
        with pytest.raises(Refused):
            gate.worker.check()
        later = gate.ask("later")
        gate.open.set()
        assert (await later, gate.batches) == (b"later", [[0], ["later"]])

    asyncio.run(test())


def test_clients_that_leave_are_dropped() -> None:
    async def test() -> None:
        gate, gone = Gate(), asyncio.get_running_loop().create_future()
        running, waiting, dropped = gate.ask("running"), gate.ask("waiting"), gate.ask("dropped", gone=gone)
        await asyncio.sleep(0)
        gone.set_result(None)
        assert await status(dropped) == 499 and len(gate.worker.waiting) == 1
        gate.worker.check()  # `running` is still waited for
        gate.open.set()
        assert (await running, await waiting, gate.batches) == (b"running", b"waiting", [["running"], ["waiting"]])

    asyncio.run(test())


def test_a_failing_batch_is_predicted_one_by_one() -> None:
    model = ServedModel(STORED / "1" / "ner.tar.gz", queue=1, batch_size=1, threads=1)
    good = {"tokens": ["Mira", "left", "."]}
    first, bad, last = model.answers([good, {"tokens": []}, good])
    assert (first, last) == tuple(model.answers([good]) * 2) and isinstance(bad, InputError)
