"""The workers of a table on a Ray cluster whose nodes share the folder of the runs."""

import importlib
import os
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import elmo_tasks
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.process import RunCommand, stop, thread_variables
from elmo_tasks.system.files import write_text
from elmo_tasks.system.ray_cluster import (
    RayExecutor,
    first_line,
    node_name,
    nodes_of,
    room_of,
)

PROBE_SECONDS = 10.0

NODE = "node.json"
"""
In a run's folder: `node`, the node that executes it or did so last, see `node_name`,
and `process`, the id of the worker.
"""


class RayWorkers:
    """Tasks of a cluster, each of which executes a run by a process of its own."""

    def __init__(self, nodes: RayExecutor) -> None:
        self.slots = nodes.slots
        self._nodes = nodes

    def share(self, slot: int) -> dict[str, str]:
        return thread_variables(self._nodes.cores)  # Ray itself chooses the GPU

    def start(self, run: RunCommand, *, name: str, memory: int) -> Future[int]:
        (run.folder / NODE).unlink(missing_ok=True)
        return self._nodes.submit_named(name, memory, execute_on_node, run)

    def location(self, folder: Path) -> dict[str, Any] | None:
        return run_dir.read_json(folder / NODE)

    def close(self) -> None:
        self._nodes.shutdown()


def execute_on_node(run: RunCommand) -> int:
    """
    In a task: execute a run, and return the exit code. The process ends when the task
    does.
    """
    if not (run.folder / run_dir.PLAN).is_file():
        raise InputError("the folder is not shared with this node", file=run.folder)
    process = run.start()
    try:
        location = {"node": node_name(), "process": os.getpid()}
        run_dir.write_json(run.folder / NODE, location)
        return process.wait()
    finally:
        stop(process)


def open_workers(ray: Any, home: Path, slots: int | None = None) -> RayWorkers:
    """
    Workers on a cluster, see `ray_cluster.connected`; by default as many as its nodes
    have cores for. A run takes `OMP_NUM_THREADS` cores (default 1), and a GPU if the
    cluster has any.

    Raises `InputError` if no node has these cores, and within seconds if none answers,
    or one does not share the folder `home` of the runs or has another version of this
    package.
    """
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores = max(1, int(limit)) if limit.isdecimal() else 1
    nodes = nodes_of(ray)
    room = room_of(ray, cores)
    if not room:
        most = max([int(node["Resources"]["CPU"]) for node in nodes], default=0)
        problem = f"expected a node with the {cores} cores of a run, got at most {most}"
        raise InputError(problem, hint="start a node, or set OMP_NUM_THREADS")
    _check_nodes(ray, nodes, home)
    has_gpus = any(node["Resources"].get("GPU") for node in nodes)
    nodes_used = RayExecutor(ray, slots or room, cores=cores, gpus=int(has_gpus))
    return RayWorkers(nodes_used)


def _check_nodes(ray: Any, nodes: list[dict[str, Any]], home: Path) -> None:
    with _token(home) as token:
        try:
            answers = _ask(ray, nodes, missing_on_node(str(token)))
        except ray.exceptions.RayError as error:
            raise InputError(f"Ray: {first_line(error)}") from error
    if not answers:
        problem = f"no node of the Ray cluster answered within {PROBE_SECONDS:.0f} s"
        raise InputError(problem)
    for name, missing in answers.items():
        if missing is not None:
            raise InputError(f"node {name}: {missing}")


@contextmanager
def _token(home: Path) -> Iterator[Path]:
    """
    A file in the folder of the runs, by which a node sees whether it shares the folder.
    """
    token = home / f".ray-{secrets.token_hex(8)}"
    write_text(token, "")
    try:
        yield token
    finally:
        token.unlink()


def _ask(
    ray: Any, nodes: list[dict[str, Any]], function: Callable[[], str | None]
) -> dict[str, str | None]:
    """
    What a function returns on each node, by its name. A node that does not answer may
    be lost, and is left out.
    """
    strategies = importlib.import_module("ray.util.scheduling_strategies")
    remote = ray.remote(num_cpus=0, max_retries=0)(function)
    asked = {}
    for node in nodes:
        there = strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        name = f"{node['NodeManagerHostname']} ({node['NodeID'][:6]})"
        asked[remote.options(scheduling_strategy=there).remote()] = name
    done, _ = ray.wait(list(asked), num_returns=len(asked), timeout=PROBE_SECONDS)
    return {asked[reference]: ray.get(reference) for reference in done}


def missing_on_node(token: str) -> Callable[[], str | None]:
    """
    A function that says what a node lacks. It is sent by value, and so runs without
    this package.
    """
    version = elmo_tasks.__version__

    def missing() -> str | None:
        import os

        try:
            from elmo_tasks import __version__ as installed
        except ImportError as error:
            return f"elmo_tasks cannot be imported: {error}"
        if installed != version:
            return f"expected version {version} of elmo-tasks, got {installed}"
        folder = os.path.dirname(token)
        if not os.path.exists(token) or not os.access(folder, os.W_OK):
            return f"the folder is not shared with it, or not writable: {folder}"
        return None

    return missing
