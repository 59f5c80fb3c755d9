"""Workers end with the process that started them, and when they are closed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from elmo_tasks.workers import Processes, WorkerLost
from tests.system import is_alive, signals_of_a_terminal

MAIN = """
import sys, time
from elmo_tasks.workers import Processes
if __name__ == "__main__":
    with Processes(2, print, "started") as workers:
        list(workers.map(time.sleep, [60, 60]))
"""


def test_workers_exit_with_their_parent_when_it_is_killed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MAIN)
    command = [sys.executable, "-u", str(tmp_path / "main.py")]
    parent = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert parent.stdout is not None
    assert [parent.stdout.readline() for _ in range(2)] == ["started\n"] * 2
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    began = time.monotonic()
    assert parent.stdout.read() == "", "until the last worker has closed it"
    assert time.monotonic() - began < 10


def sleep_with_a_child(file: Path) -> None:
    """Writes the ids of this process and of one that it starts and ends, then waits."""
    child = subprocess.Popen(["sleep", "60"])
    try:
        file.write_text(f"{os.getpid()} {child.pid}")
        child.wait()
    finally:
        child.kill()
        child.wait()


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def ids_in(file: Path) -> list[int]:
    return [int(word) for word in file.read_text().split()] if file.exists() else []


def test_closing_ends_calls_and_what_they_started(tmp_path: Path) -> None:
    """A call that waits for a worker does not begin."""
    file = tmp_path / "ids"
    began = time.monotonic()
    with Processes(1) as workers:
        running = workers.submit(sleep_with_a_child, file)
        waiting = workers.submit(sleep_with_a_child, tmp_path / "other")
        until(lambda: len(ids_in(file)) == 2)
    assert time.monotonic() - began < 30
    assert running.done() and waiting.cancelled()
    assert not any(map(is_alive, ids_in(file)))
    assert not (tmp_path / "other").exists()


def test_a_terminal_interrupts_all_workers(tmp_path: Path) -> None:
    """Those that wait for a call end, too, and what a call has started."""
    file = tmp_path / "ids"
    began = time.monotonic()
    with signals_of_a_terminal(), Processes(2) as workers:
        calls = [workers.submit(time.sleep, 1)]
        calls.append(workers.submit(sleep_with_a_child, file))
        until(lambda: len(ids_in(file)) == 2 and calls[0].done())
        for worker in multiprocessing.active_children():
            os.kill(worker.pid or 0, signal.SIGINT)
        assert calls[1].exception() is not None
        time.sleep(0.5)  # the pool sees that a process has ended
    assert time.monotonic() - began < 30
    assert not any(map(is_alive, ids_in(file)))


def test_one_thread_at_a_time_shuts_a_pool_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two at a time would close its pipes twice, and so somebody else's files."""
    shutdown = ProcessPoolExecutor.shutdown
    most = 0
    busy: list[ProcessPoolExecutor] = []

    def counted(self: ProcessPoolExecutor) -> None:
        nonlocal most
        busy.append(self)
        most = max(most, busy.count(self))
        shutdown(self)
        time.sleep(0.2)
        busy.remove(self)

    monkeypatch.setattr(ProcessPoolExecutor, "shutdown", counted)
    with Processes(2) as workers:
        files = [tmp_path / "first", tmp_path / "second"]
        for file in files:
            workers.submit(sleep_with_a_child, file)
            until(lambda file=file: len(ids_in(file)) == 2)
    assert most == 1


def test_closing_before_a_worker_has_started(tmp_path: Path) -> None:
    with Processes(1) as workers:
        workers.submit(sleep_with_a_child, tmp_path / "ids")
        time.sleep(0.1)
    assert not any(map(is_alive, ids_in(tmp_path / "ids")))


def test_a_killed_worker_is_an_error() -> None:
    with Processes(1) as workers:
        call = workers.submit(os.kill, workers.submit(os.getpid).result(), 9)
        with pytest.raises(WorkerLost, match="a worker process was killed"):
            call.result()
        assert workers.submit(abs, -1).result() == 1


def test_a_killed_worker_takes_its_own_call_alone() -> None:
    with Processes(2) as workers:
        other = workers.submit(pow, 2, workers.submit(abs, -3).result())
        pids = [workers.submit(os.getpid) for _ in range(2)]
        slow = workers.submit(time.sleep, 2)
        killed = workers.submit(kill_this_process)
        with pytest.raises(WorkerLost):
            killed.result()
        assert slow.result() is None and other.result() == 8
        assert all(call.result() for call in pids)


def test_a_signal_to_a_worker_is_a_lost_worker() -> None:
    with Processes(1) as workers:
        call = workers.submit(end_this_process)
        with pytest.raises(WorkerLost, match="ended by a signal"):
            call.result()
        assert workers.submit(abs, -1).result() == 1


def kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def end_this_process() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def test_an_error_of_a_function_is_that_of_the_call() -> None:
    with Processes(1) as workers:
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result()
        assert list(workers.map(divmod, [7, 8], [2, 2])) == [(3, 1), (4, 0)]


def test_programs_share_cores_and_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for given, slots, threads in (("", 2, "4"), ("", 20, "1"), ("3", 2, "3")):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert Processes(slots).share(0)["OMP_NUM_THREADS"] == threads
    three = Processes(3)
    gpus = [three.share(slot)["CUDA_VISIBLE_DEVICES"] for slot in range(3)]
    assert gpus == ["0", "1", "0"]
    assert "CUDA_VISIBLE_DEVICES" not in Processes(1).share(0)
