"""Run the runs of a table on a Ray cluster whose nodes share the folder. Runs of a lost node are retried elsewhere."""

import importlib
import os
from collections.abc import Iterator
from typing import Any

from elmo_tasks.ablation import process, run_dir
from elmo_tasks.ablation.local import RunFinished
from elmo_tasks.ablation.runs import Run
from elmo_tasks.errors import InputError

MAX_RETRIES = 5
"""How often a run may lose its node."""


def run_all(runs: list[Run]) -> Iterator[RunFinished]:
    """
    Run all on the cluster of `RAY_ADDRESS`, or on a local one. Each run takes `OMP_NUM_THREADS` cores (1 by default),
    and a GPU if the cluster has any. A retried run resumes from its last checkpoint. Raises `InputError` if Ray is not
    installed.
    """
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise InputError("the executor ray needs Ray", hint="pip install 'elmo-tasks[ray]'") from None
    ray.init(address=os.environ.get("RAY_ADDRESS"), ignore_reinit_error=True, log_to_driver=False)
    cores = int(os.environ.get("OMP_NUM_THREADS") or 1)
    gpus = 1 if ray.cluster_resources().get("GPU") else 0
    remote = ray.remote(num_cpus=cores, num_gpus=gpus, max_retries=MAX_RETRIES)(process.run_on_node)
    refs: dict[str, Any] = {}
    running: dict[Any, Run] = {}
    for run in runs:
        run_dir.prepare_run_dir(run)
        others = [refs[digest] for digest in run.after if digest in refs]
        ref = remote.remote(process.command(run.folder), str(run.folder), _environment(cores), *others)
        refs[run.digest], running[ref] = ref, run
    try:
        while running:
            (ref,), _ = ray.wait(list(running))
            yield _outcome(ray, ref, running.pop(ref))
    finally:
        for ref in running:
            ray.cancel(ref, force=True)


def _environment(cores: int) -> dict[str, str]:
    """The variables of a run on its node: as on this machine the scale, the data root and the location of the code."""
    ours = {key: value for key, value in os.environ.items() if key.startswith(("ELMO_TASKS_", "PYTHONPATH"))}
    return ours | {name: str(cores) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}


def _outcome(ray: Any, ref: Any, run: Run) -> RunFinished:
    try:
        code = ray.get(ref)
    except ray.exceptions.RayError as error:
        reason = None if run_dir.read_result(run.folder) else f"Ray: {str(error).splitlines()[0]}"
        if reason is not None:
            run_dir.write_failure(run.folder, reason)
        return RunFinished(run, reason)
    return RunFinished(run, run_dir.failure_of(run.folder, code))
