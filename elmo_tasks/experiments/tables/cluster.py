"""Run the runs of a table on a Ray cluster whose nodes share the folder. A run of a lost node is retried elsewhere."""

import importlib
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import elmo_tasks
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import local, process, run_dir
from elmo_tasks.experiments.tables.process import NODE, Command
from elmo_tasks.experiments.tables.runs import Event, Run
from elmo_tasks.ray_cluster import connect, first_line

MAX_RETRIES = 5
"""How often a run may lose its node."""
POLL_SECONDS = 0.5
PROBE_SECONDS = 10.0


class RayExecutor:
    """
    An executor on the cluster at `address` (`host:port`, or `auto`: the one that this machine belongs to). A run takes
    `OMP_NUM_THREADS` cores (default 1), a GPU if the cluster has any, and the peak memory of a finished run of the same
    row; it is a process of `command` on its node. Raises `InputError` within 30 s if Ray is not installed, the cluster
    does not answer, or a node does not share the folder `home` of the runs or has another version of this package.
    """

    def __init__(
        self, address: str, home: Path, *, command: Command = process.command
    ) -> None:
        self._ray, self._command = connect(address), command
        limit = os.environ.get("OMP_NUM_THREADS", "")
        self.cores = max(1, int(limit)) if limit.isdecimal() else 1
        nodes = [
            node
            for node in self._ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU")
        ]
        self.slots = sum(int(node["Resources"]["CPU"]) // self.cores for node in nodes)
        """Runs that the nodes have cores for."""
        if not self.slots:
            most = int(max([node["Resources"]["CPU"] for node in nodes], default=0))
            problem = f"expected a node with the {self.cores} cores of a run, got at most {most}"
            raise InputError(problem, hint="start a node, or set OMP_NUM_THREADS")
        self._memory = max(int(node["Resources"].get("memory", 0)) for node in nodes)
        self._gpus = int(any(node["Resources"].get("GPU") for node in nodes))
        self._check_nodes(nodes, home)

    def __call__(self, runs: list[Run], *, workers: int) -> Iterator[Event]:
        """Yields as `local.run_all`, with the node of each start. Closing it stops what is running."""
        waiting, running = list(runs), dict[Any, Run]()
        seen, failed = dict[str, Any](), set[str]()
        try:
            while waiting or running:
                for run in local.ready(waiting, list(running.values()))[
                    : workers - len(running)
                ]:
                    waiting.remove(run)
                    running[self._submit(run)] = run
                done, _ = self._ray.wait(list(running), timeout=POLL_SECONDS)
                for run in running.values():
                    status = run_dir.read_json(run.folder / NODE)
                    if status is not None and status != seen.get(run.digest):
                        seen[run.digest] = status
                        yield Event(run, status["state"], node=status["node"])
                for ref in done:
                    run = running.pop(ref)
                    (run.folder / NODE).unlink(missing_ok=True)
                    failure = self._failure(ref, run)
                    failed |= {run.digest} if failure else set()
                    yield Event(run, "finished", failure)
                yield from local.skipped(waiting, failed)
        finally:
            for ref in running:
                self._ray.cancel(ref, force=True)

    def _check_nodes(self, nodes: list[dict[str, Any]], home: Path) -> None:
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        with run_dir.lock_to_write(home):
            token = home / f".ray-{secrets.token_hex(8)}"
            token.touch()
        try:
            probe = self._ray.remote(num_cpus=0, max_retries=0)(
                _probe(str(token), elmo_tasks.__version__)
            )
            on = (
                strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                for node in nodes
            )
            refs = [
                probe.options(scheduling_strategy=strategy).remote() for strategy in on
            ]
            done, _ = self._ray.wait(refs, num_returns=len(refs), timeout=PROBE_SECONDS)
            if not done:
                raise InputError(
                    f"no node of the Ray cluster answered within {PROBE_SECONDS:.0f} s"
                )
            for node, ref in zip(
                nodes, refs, strict=True
            ):  # one that does not answer may be lost
                if ref in done and (problem := self._ray.get(ref)):
                    raise InputError(
                        f"node {node['NodeManagerHostname']} ({node['NodeID'][:6]}): {problem}"
                    )
        except self._ray.exceptions.RayError as error:
            raise InputError(f"Ray: {first_line(error)}") from error
        finally:
            token.unlink()

    def _submit(self, run: Run) -> Any:
        run_dir.prepare_run_dir(run)
        (run.folder / NODE).unlink(missing_ok=True)
        memory = min(_peak_memory(run), self._memory)
        options = {
            "num_cpus": self.cores,
            "num_gpus": self._gpus,
            "memory": memory,
            "name": run.label,
        }
        remote = self._ray.remote(max_retries=MAX_RETRIES, **options)(
            process.execute_on_node
        )
        return remote.remote(
            self._command, run.folder, os.getcwd(), _environment(self.cores)
        )

    def _failure(self, ref: Any, run: Run) -> str | None:
        try:
            code = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            if run_dir.read_result(run.folder) is not None:
                return None
            run_dir.write_failure(run.folder, f"Ray: {first_line(error)}")
            code = 1
        return run_dir.failure_of(run.folder, code)


def _probe(token: str, version: str) -> Callable[[], str | None]:
    """A function that says what a node lacks. It is sent by value, and so runs without this package."""

    def probe() -> str | None:
        import os

        try:
            from elmo_tasks import __version__ as installed
        except ImportError as error:
            return f"elmo_tasks cannot be imported: {error}"
        if installed != version:
            return f"expected version {version} of elmo-tasks, got {installed}"
        shared = os.path.exists(token) and os.access(os.path.dirname(token), os.W_OK)
        return (
            None
            if shared
            else f"the folder is not shared with it, or not writable: {os.path.dirname(token)}"
        )

    return probe


def _environment(cores: int) -> dict[str, str]:
    """The variables of a run on its node: as on this machine the data root and the location of the code."""
    ours = {
        key: value
        for key, value in os.environ.items()
        if key.startswith(("ELMO_TASKS_", "PYTHONPATH"))
    }
    return ours | {name: str(cores) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}


def _peak_memory(run: Run) -> int:
    """The largest memory in bytes of a finished run of the same row; 0 if there is none."""
    results = (
        run_dir.read_result(file.parent)
        for file in run.home.glob(f"*/{run_dir.RESULT}")
    )
    return max(
        (
            result["peak_memory"]
            for result in results
            if result and result["row"] == run.row.name
        ),
        default=0,
    )
