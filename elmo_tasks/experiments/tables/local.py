"""The workers of a table on this machine."""

import os
import subprocess
import threading
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress

import torch

from elmo_tasks.experiments.tables.process import RunCommand, stop, thread_variables

POLL_SECONDS = 0.5


class LocalWorkers:
    """Processes of this machine, for each of which a thread waits."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._threads = ThreadPoolExecutor(slots)
        self._closing = threading.Event()

    def share(self, slot: int) -> dict[str, str]:
        cores = max(1, (os.cpu_count() or 1) // self.slots)
        limit = os.environ.get("OMP_NUM_THREADS", "")
        if limit.isdecimal() and int(limit) > 0:
            cores = min(cores, int(limit))
        variables = thread_variables(cores)
        gpus = torch.cuda.device_count()
        has_choice = gpus > 1 and self.slots > 1
        if has_choice and "CUDA_VISIBLE_DEVICES" not in os.environ:
            variables["CUDA_VISIBLE_DEVICES"] = str(slot % gpus)
        return variables

    def start(self, run: RunCommand) -> Future[int]:
        return self._threads.submit(self._execute, run)

    def close(self) -> None:
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)

    def _execute(self, run: RunCommand) -> int:
        process = run.start()
        try:
            while not self._closing.is_set():
                with suppress(subprocess.TimeoutExpired):
                    return process.wait(POLL_SECONDS)
        finally:
            stop(process)
        raise CancelledError
