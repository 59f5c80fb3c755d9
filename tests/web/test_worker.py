"""The queue: batches, limits, and requests whose clients have left."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from allennlp.models import load_archive

from elmo_tasks.errors import InputError
from elmo_tasks.web.models import TrainedModel, words_in
from elmo_tasks.web.worker import AbandonedError, Answer, Refused, Worker
from tests.archives.make import STORED


class Gate:
    """A computation that waits until it is open; it notes its batches."""

    def __init__(self) -> None:
        self.open, self.batches = threading.Event(), list[list[Any]]()

    def __call__(self, inputs: Sequence[Any]) -> list[Answer]:
        self.batches.append(list(inputs))
        self.open.wait(10)
        return [InputError("invalid") if one == "bad" else str(one).encode() for one in inputs]


def ask(worker: Worker, data: Any, *, words: int = 1, timeout: float = 10, gone: Any = None) -> asyncio.Task[bytes]:
    left = gone or asyncio.get_running_loop().create_future()
    return asyncio.ensure_future(worker.answer(data, words, gone=left, timeout=timeout))


def run(test: Callable[[Gate, Worker], Coroutine[Any, Any, None]], **options: int) -> None:
    gate = Gate()

    async def started() -> None:
        worker = Worker(gate, **{"queue": 5, "batch_size": 4, "threads": 1, **options})
        await asyncio.wait_for(test(gate, worker), 20)
        worker.stop()

    asyncio.run(started())


def status(task: asyncio.Task[bytes]) -> int:
    error = task.exception()
    assert isinstance(error, Refused)
    return error.status


def test_batches_are_limited_and_in_order() -> None:
    async def test(gate: Gate, worker: Worker) -> None:
        tasks = [ask(worker, number, words=1500 if number == 3 else 10) for number in range(6)]
        await asyncio.sleep(0)
        gate.open.set()
        assert await asyncio.gather(*tasks) == [b"0", b"1", b"2", b"3", b"4", b"5"]
        assert gate.batches == [[0], [1, 2], [3, 4], [5]]
        assert worker.batches == {1: 2, 2: 2}

    run(test)


def test_an_invalid_input_harms_no_other() -> None:
    async def test(gate: Gate, worker: Worker) -> None:
        tasks = [ask(worker, data) for data in ("first", "good", "bad", "fine")]
        gate.open.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert found[:2] == [b"first", b"good"] and found[3] == b"fine" and isinstance(found[2], InputError)

    run(test)


def test_a_full_queue_refuses() -> None:
    async def test(gate: Gate, worker: Worker) -> None:
        tasks = [ask(worker, number) for number in range(4)]
        await asyncio.sleep(0.01)
        assert status(tasks[3]) == 429
        gate.open.set()
        assert await asyncio.gather(*tasks[:3]) == [b"0", b"1", b"2"]

    run(test, queue=2)


def test_the_worker_goes_on_after_a_time_limit() -> None:
    async def test(gate: Gate, worker: Worker) -> None:
        tasks = [ask(worker, number, timeout=0.05) for number in range(2)]
        await asyncio.wait(tasks)
        assert [status(task) for task in tasks] == [503, 503] and not worker.waiting
        with pytest.raises(AbandonedError):
            worker.check()
        later = ask(worker, "later")
        gate.open.set()
        assert await later == b"later"
        assert gate.batches == [[0], ["later"]]

    run(test)


def test_a_client_that_leaves_is_dropped() -> None:
    async def test(gate: Gate, worker: Worker) -> None:
        running, gone = ask(worker, "running"), asyncio.get_running_loop().create_future()
        waiting = ask(worker, "waiting", gone=gone)
        await asyncio.sleep(0.01)
        gone.set_result(None)
        await asyncio.wait([waiting])
        worker.check()  # `running` is still waited for
        gate.open.set()
        assert (status(waiting), await running, gate.batches) == (499, b"running", [["running"]])

    run(test)


def test_stopping_finishes_what_runs() -> None:
    async def test(gate: Gate, worker: Worker) -> None:
        running, waiting = ask(worker, "running"), ask(worker, "waiting")
        await asyncio.sleep(0.01)
        worker.stop()
        late = ask(worker, "late")
        await asyncio.wait([waiting, late])
        gate.open.set()
        assert (await running, status(waiting), status(late)) == (b"running", 503, 503)

    run(test)


def test_a_failing_batch_is_predicted_one_by_one() -> None:
    model = TrainedModel(STORED / "1" / "ner.tar.gz")
    good = {"tokens": ["Mira", "left", "."]}
    first, bad, last = model.answers([good, {"tokens": []}, good])
    assert (first, last) == tuple(model.answers([good]) * 2) and isinstance(bad, InputError)


def test_inputs_are_not_written_to_the_layer_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached = partial(load_archive, overrides=json.dumps({"model.elmo.cache_dir": str(tmp_path / "layers")}))
    monkeypatch.setattr("elmo_tasks.web.models.load_archive", cached)
    (answer,) = TrainedModel(STORED / "1" / "ner.tar.gz").answers([{"tokens": ["Mira", "left", "."]}])
    assert isinstance(answer, bytes) and not (tmp_path / "layers").exists()


@pytest.mark.parametrize(
    ("value", "count"),
    [("Mira's ferry, left.", 7), (["New York", "."], 2), ([["a"], ["b", "c"]], 3), (7, 0), ("naïve東京", 1)],
)
def test_words_are_counted(value: Any, count: int) -> None:
    assert words_in(value) == count
