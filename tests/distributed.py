"""The processes of a distributed training, as forks of the test's process."""

import os
import pickle
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import torch.distributed

from tests.forks import fork, status_of

SECONDS = 20


def in_processes(count: int, action: Callable[[], Any], **variables: str) -> list[Any]:
    """
    What `action` returns in each of `count` processes that communicate, by rank; what
    it raises is returned. The processes have the environment's variables and these.
    """
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name, f"{rank}.pickle") for rank in range(count)]

        def act(rank: int) -> None:
            os.environ.update(variables)
            meeting = f"file://{name}/meeting"
            torch.distributed.init_process_group(
                "gloo",
                init_method=meeting,
                rank=rank,
                world_size=count,
                timeout=timedelta(seconds=SECONDS),
            )
            aside = files[rank].with_suffix(".tmp")
            aside.write_bytes(pickle.dumps(_result(action)))
            aside.rename(files[rank])
            _wait_for(files)  # the others may still need this process

        children = [fork(partial(act, rank)) for rank in range(count)]
        statuses = [status_of(child) for child in children]
        assert statuses == [0] * count
        return [pickle.loads(file.read_bytes()) for file in files]


def _result(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except Exception as error:
        return error


def _wait_for(files: list[Path]) -> None:
    end = time.monotonic() + SECONDS
    for file in files:
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.01)
