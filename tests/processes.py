"""A second process, for metrics in distributed training."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import torch.distributed

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300
"""The timeout, long enough for a busy machine."""

DEAD = 2**22 + 1
"""A process id above the maximum on Linux."""

_BEGIN = """
import os
import sys
from datetime import timedelta
import torch
import torch.distributed
torch.distributed.init_process_group(
    "gloo", init_method=sys.argv[1], rank=1, world_size=2, timeout=timedelta(seconds=int(sys.argv[2]))
)
"""
_END = """
sys.stdout.flush()
sys.stdin.read()  # wait for the first process: leaving early would break its connection
os._exit(0)  # the normal exit with a process group sometimes aborts
"""


@contextmanager
def other_process(folder: Path, code: str) -> Iterator[subprocess.Popen[str]]:
    """Run code, which prints its result, as rank 1 of 2; this process is rank 0. They meet in a file in `folder`."""
    meeting = f"file://{folder}/meeting"
    command = [sys.executable, "-c", _BEGIN + code + _END, meeting, str(SECONDS)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            torch.distributed.init_process_group(
                "gloo", init_method=meeting, rank=0, world_size=2, timeout=timedelta(seconds=SECONDS)
            )
            yield process
        finally:
            if torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()
            process.kill()


def last_line(process: subprocess.Popen[str]) -> str:
    """The last line that the process printed; it must have exited with 0."""
    printed = process.communicate(timeout=SECONDS)[0]
    assert process.returncode == 0, process.returncode
    return printed.splitlines()[-1]
