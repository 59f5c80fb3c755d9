"""Worker processes end with the process that started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

MAIN = """
import sys, time
from elmo_tasks.processes import worker_pool
if __name__ == "__main__":
    with worker_pool(2, print, "started") as pool:
        list(pool.map(time.sleep, [60, 60]))
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
