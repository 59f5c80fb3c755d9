"""The workers of a table on this machine."""

import os
import subprocess
from pathlib import Path
from queue import SimpleQueue

import torch

from elmo_tasks.experiments.tables import process
from elmo_tasks.system.ray_cluster import cores_per_process


class LocalWorkers:
    """
    Processes of this machine, which share its GPUs. `command` is what Python
    executes, see `process.COMMAND`.
    """

    def __init__(
        self, slots: int, *, command: tuple[str, ...] = process.COMMAND
    ) -> None:
        self.slots = slots
        self._command = command
        self._free: SimpleQueue[int] = SimpleQueue()
        for slot in range(slots):
            self._free.put(slot)
        self._running = set[subprocess.Popen[bytes]]()
        self._is_closed = False

    def share(self, slot: int) -> dict[str, str]:
        """
        The environment variables that limit a program to its cores, as on Ray, and to
        its share of the GPUs. `slot` is its number, counted from 0.
        """
        variables = process.thread_variables(cores_per_process())
        gpus = torch.cuda.device_count()
        has_choice = gpus > 1 and self.slots > 1
        if has_choice and "CUDA_VISIBLE_DEVICES" not in os.environ:
            variables["CUDA_VISIBLE_DEVICES"] = str(slot % gpus)
        return variables

    def execute(self, folder: Path) -> int:
        slot = self._free.get()
        run = process.start(folder, self._command, self.share(slot))
        self._running.add(run)
        try:
            if self._is_closed:  # before `close` could see this process
                process.stop(run)
            return run.wait()
        finally:
            process.stop(run)  # its children
            self._running.discard(run)
            self._free.put(slot)

    def close(self) -> None:
        self._is_closed = True
        for run in list(self._running):
            process.stop(run)
