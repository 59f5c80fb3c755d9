"""Functions in other processes: whoever is killed, and whenever, the call ends."""

import gc
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.system.workers import WorkerLost, processes
from tests.system import is_alive, require_path

MAIN = """
import os, time
from elmo_tasks.system.workers import processes
if __name__ == "__main__":
    with processes(2) as pool:
        first, second = pool.submit(os.getpid), pool.submit(os.getpid)
        print(first.result(), flush=True)
        list(pool.map(time.sleep, [60, 60]))
"""

WITHOUT_GUARD = """
import sys
from elmo_tasks.errors import InputError
from elmo_tasks.system.workers import processes
try:
    with processes(3) as pool:
        print(pool.submit(abs, -1).result())
except InputError as error:
    print(error, file=sys.stderr)
"""

MODEL = """
import sys
from elmo_tasks.elmo import Elmo
from elmo_tasks.errors import InputError
elmo = Elmo.from_pretrained(device="cpu")
try:
    elmo.mean_vectors([["a", "b"]] * 10, ["a"], processes=2)
except InputError as error:
    print(error, file=sys.stderr)
"""

SECONDS = 300.0


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def children_of(process: int) -> list[int]:
    """The processes that a process has started, and that have not ended, on Linux."""
    require_path("/proc/self/status")
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def workers_of(process: int) -> list[int]:
    """Those of its children that are to call functions, on Linux."""
    require_path("/proc/self/status")
    found = []
    for child in children_of(process):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in command:
            found.append(child)
    return found


def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MAIN)
    command = [sys.executable, str(tmp_path / "main.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        until(lambda: len(workers_of(parent.pid)) == 2)
        started = workers_of(parent.pid)
        parent.kill()
        parent.wait()
        assert parent.stdout.read() == "", "until the last process has closed it"
    until(lambda: not any(map(is_alive, started)))


@pytest.mark.parametrize("script", [WITHOUT_GUARD, MODEL])
def test_a_script_without_a_guard_ends_in_one_line(script: str, tmp_path: Path) -> None:
    """Also if what has to be sent to the processes is large."""
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert 'call this below `if __name__ == "__main__":`' in done.stderr


def sleep_then_write(file: Path, seconds: float) -> None:
    file.with_suffix(".begun").touch()
    time.sleep(seconds)
    file.touch()


def test_an_error_ends_the_calls(tmp_path: Path) -> None:
    """Those that wait do not begin; those that have begun do not end."""
    with pytest.raises(KeyboardInterrupt), processes(1) as pool:
        pool.submit(sleep_then_write, tmp_path / "first", 60)
        for number in range(5):
            pool.submit(sleep_then_write, tmp_path / f"other{number}", 0)
        until((tmp_path / "first.begun").exists)
        began = time.monotonic()
        raise KeyboardInterrupt
    assert time.monotonic() - began < 30
    assert [file.name for file in tmp_path.iterdir()] == ["first.begun"]


def test_calls_are_finished_without_an_error(tmp_path: Path) -> None:
    with processes(2) as pool:
        calls = [pool.submit(sleep_then_write, tmp_path / "a", 1)]
        assert list(pool.map(divmod, [7, 8], [2, 2])) == [(3, 1), (4, 0)]
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 1, 0).result()
        assert calls[0].result() is None
    assert (tmp_path / "a").exists()


def test_a_killed_process_is_an_error() -> None:
    with (
        pytest.raises(WorkerLost, match="a worker process was killed"),
        processes(2) as pool,
    ):
        slow = pool.submit(time.sleep, 60)
        pool.submit(os.kill, pool.submit(os.getpid).result(), signal.SIGKILL)
        slow.result()


def send_a_part() -> None:
    """Send the beginning of a result."""
    for one in gc.get_objects():
        if isinstance(one, Connection):
            os.write(one.fileno(), struct.pack("!i", 1000) + b"x")  # of 1,000 bytes


def killed_while_it_sends() -> None:
    send_a_part()
    os.kill(os.getpid(), signal.SIGKILL)


def send_slowly(begun: Path) -> None:
    send_a_part()
    begun.touch()
    time.sleep(10 * SECONDS)


def fail(number: int) -> int:
    time.sleep(0.2)
    if number == 3:
        raise InputError("the third")
    return number


ENDS = """
import sys, time
from pathlib import Path
from elmo_tasks.errors import InputError
from elmo_tasks.system.workers import processes
from tests.test_processes import *
if __name__ == "__main__":
    try:
        with processes(2) as pool:
            {body}
    except (InputError, KeyboardInterrupt) as error:
        print(type(error).__name__, error, file=sys.stderr)
"""

KILLED = """
            slow = pool.submit(time.sleep, 10 * SECONDS)
            pool.submit(killed_while_it_sends)
            slow.result()
"""

INTERRUPTED = """
            begun = Path(sys.argv[1], "begun")
            pool.submit(send_slowly, begun)
            until(begun.exists)
            raise KeyboardInterrupt
"""


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (KILLED, "WorkerLost a worker process was killed"),
        (INTERRUPTED, "KeyboardInterrupt"),
        ("for _ in pool.map(fail, range(100)): pass", "InputError the third"),
    ],
    ids=["killed while it sends", "interrupted while it sends", "error, others wait"],
)
def test_an_error_is_one_line(body: str, error: str, tmp_path: Path) -> None:
    code = ENDS.replace("{body}", body.strip())
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.stderr.startswith(error)
    assert done.stderr.count("\n") == 1


class TwoArguments(Exception):
    """Is not made again from what `Exception` keeps."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


def raise_one_that_is_not_read_back() -> None:
    raise TwoArguments("first", "second")


def raise_one_that_is_not_pickled() -> None:
    error = ValueError("with a lock")
    error.lock = threading.Lock()  # type: ignore[attr-defined]
    raise error


def test_each_error_is_that_of_its_call_alone() -> None:
    with processes(1) as pool:
        with pytest.raises(RuntimeError, match="TwoArguments: firstsecond"):
            pool.submit(raise_one_that_is_not_read_back).result()
        with pytest.raises(RuntimeError, match="ValueError: with a lock"):
            pool.submit(raise_one_that_is_not_pickled).result()
        with pytest.raises(TypeError, match="cannot pickle"):
            pool.submit(threading.Lock).result()
        with pytest.raises((TypeError, AttributeError), match="pickle"):
            pool.submit(lambda: 1).result()
        with pytest.raises(SystemExit):
            pool.submit(sys.exit, 3).result()
        with pytest.raises(ZeroDivisionError) as caught:
            pool.submit(divmod, 1, 0).result()
        assert "Traceback" in str(caught.value.__cause__), "of the worker"
        assert pool.submit(divmod, 7, 2).result() == (3, 1)


def echo(data: bytes) -> bytes:
    return data


LARGE = 3_000_000
"""Bytes, more than a pipe holds."""


@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.0, 0.1, 0.3, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("which", [0, -1])
def test_a_process_can_be_killed_at_any_moment(moment: float, which: int) -> None:
    """While it starts, waits, computes, and while data are on their way."""
    code = (
        "from elmo_tasks.system.workers import processes; from tests.test_processes import *\n"
        "with processes(2) as pool:\n"
        "    print('ready', flush=True)\n"
        "    for _ in range(10_000):\n"
        "        for one in pool.map(echo, [bytes(LARGE)] * 8): pass\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        if moment >= 1:
            assert parent.stdout.readline() == "ready\n"
        until(lambda: len(workers_of(parent.pid)) == 2 or moment == 0)
        until(lambda: workers_of(parent.pid))
        time.sleep(moment % 1)
        os.kill(workers_of(parent.pid)[which], signal.SIGKILL)
        try:
            _, errors = parent.communicate(timeout=SECONDS)
        finally:
            parent.kill()  # else a parent that hangs is waited for
    assert parent.returncode == 1
    assert "WorkerLost: a worker process" in errors.splitlines()[-1]
    assert errors.count("Traceback") == 1
