"""A second process, for the metrics that add up over the processes of a distributed training."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import torch.distributed

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300
"""How long one waits for the other, which may have to share its core with many."""

DEAD = 2**22 + 1
"""A process id larger than any on Linux."""

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
sys.stdin.read()  # until the first is done with what both compute: a peer that leaves early breaks the connection
os._exit(0)  # at once: taking the process group down with the interpreter sometimes ends in an abort
"""


@contextmanager
def other_process(folder: Path, code: str) -> Iterator[subprocess.Popen[str]]:
    """
    A process that runs some code as the second of two; this one is the first.

    # Parameters

    folder : `Path`
        Where they meet.
    code : `str`
        Prints what is to be compared.
    """
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
    """The last line that the process prints, when it has ended well."""
    printed = process.communicate(timeout=SECONDS)[0]
    assert process.returncode == 0, process.returncode
    return printed.splitlines()[-1]
