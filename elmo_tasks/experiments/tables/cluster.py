"""The workers of a table on a Ray cluster whose nodes share the folder of the runs."""

import os
from pathlib import Path
from typing import Any

from elmo_tasks.experiments.tables import process
from elmo_tasks.system.ray_cluster import cores_per_process, room_of

MAX_RETRIES = 5
"""How often a run may lose its node or process."""


class RayWorkers:
    """
    Tasks of a cluster, each of which executes a run by a process of its own. By default
    there are as many as the nodes have cores for. A run takes `OMP_NUM_THREADS` cores
    (default 1), and a GPU if the cluster has any. `command` is what Python executes,
    see `process.COMMAND`.

    Raises `InputError` if no node has these cores.
    """

    def __init__(
        self,
        ray: Any,
        slots: int | None = None,
        *,
        command: tuple[str, ...] = process.COMMAND,
    ) -> None:
        self._ray = ray
        self._command = command
        cores = cores_per_process()
        room = room_of(ray, cores)
        self.slots = slots or room
        self._task = ray.remote(
            max_retries=MAX_RETRIES,
            num_cpus=cores,
            num_gpus=min(1, ray.cluster_resources().get("GPU", 0)),
        )(execute_on_node)
        self._variables = process.thread_variables(cores)
        for name, value in os.environ.items():  # the data root, where the code is
            if name.startswith(("ELMO_TASKS_", "PYTHONPATH")):
                self._variables[name] = value
        self._calls: list[Any] = []

    def execute(self, folder: Path) -> int:
        call = self._task.options(name=folder.name).remote(
            folder, self._command, self._variables, os.getcwd()
        )
        self._calls.append(call)
        return int(self._ray.get(call))

    def close(self) -> None:
        for call in self._calls:
            self._ray.cancel(call, force=True)


def execute_on_node(
    folder: Path,
    command: tuple[str, ...],
    variables: dict[str, str],
    current_folder: str,
) -> int:
    """
    In a task: execute a run, and return the exit code. The process ends when the task
    does. Raises `FileNotFoundError` if the node does not share the folder.
    """
    if not os.path.isdir(current_folder):
        current_folder = "."
    run = process.start(folder, command, variables, current_folder)
    try:
        return run.wait()
    finally:
        process.stop(run)
