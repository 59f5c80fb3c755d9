"""The workers of a table on a Ray cluster whose nodes share the folder of the runs."""

from concurrent.futures import Future
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.process import RunCommand, stop, thread_variables
from elmo_tasks.system.ray_cluster import cores_per_process, room_of
from elmo_tasks.system.version import __version__

MAX_RETRIES = 5
"""How often a run may lose its node or process."""


class RayWorkers:
    """
    Tasks of a cluster, each of which executes a run by a process of its own. By default
    there are as many as the nodes have cores for. A run takes `OMP_NUM_THREADS` cores
    (default 1), and a GPU if the cluster has any.

    Raises `InputError` if no node has these cores.
    """

    def __init__(self, ray: Any, slots: int | None = None) -> None:
        self._ray = ray
        self._cores = cores_per_process()
        room = room_of(ray, self._cores)
        self.slots = slots or room
        self._task = ray.remote(
            max_retries=MAX_RETRIES,
            num_cpus=self._cores,
            num_gpus=min(1, ray.cluster_resources().get("GPU", 0)),
        )(execute_on_node)
        self._calls: list[Any] = []

    def share(self, slot: int) -> dict[str, str]:
        return thread_variables(self._cores)  # Ray itself chooses the GPU

    def start(self, run: RunCommand) -> Future[int]:
        call = self._task.options(name=run.folder.name).remote(run, __version__)
        self._calls.append(call)
        return call.future()

    def close(self) -> None:
        for call in self._calls:
            self._ray.cancel(call, force=True)


def execute_on_node(run: RunCommand, version: str) -> int:
    """
    In a task: execute a run, and return the exit code. The process ends when the task
    does. Raises `InputError` if the node does not share the folder, or has another
    version of this package.
    """
    if version != __version__:
        problem = f"expected version {version} of elmo-tasks on a node"
        raise InputError(f"{problem}, got {__version__}")
    if not (run.folder / run_dir.PLAN).is_file():
        raise InputError("the folder is not shared with a node", file=run.folder)
    process = run.start()
    try:
        return process.wait()
    finally:
        stop(process)
