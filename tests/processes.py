"""A second process, for the metrics that add up over the processes of a distributed training."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import torch.distributed

ROOT = Path(__file__).resolve().parents[1]

_BEGIN = """
import sys
from datetime import timedelta
import torch
import torch.distributed
torch.distributed.init_process_group(
    "gloo", init_method=sys.argv[1], rank=1, world_size=2, timeout=timedelta(seconds=60)
)
"""
_END = "torch.distributed.destroy_process_group()\n"


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
    command = [sys.executable, "-c", _BEGIN + code + _END, meeting]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        torch.distributed.init_process_group(
            "gloo", init_method=meeting, rank=0, world_size=2, timeout=timedelta(seconds=60)
        )
        yield process
        torch.distributed.destroy_process_group()
        process.kill()


def last_line(process: subprocess.Popen[str]) -> str:
    """The last line that the process prints, when it has ended well."""
    printed = process.communicate(timeout=60)[0]
    assert process.returncode == 0
    return printed.splitlines()[-1]
