"""Carries runs out on a Ray cluster whose nodes share the folder of the runs. A lost node's runs go on elsewhere."""

import importlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

from elmo_tasks.ablation import folder as folders
from elmo_tasks.ablation.local import RunFinished, conclude
from elmo_tasks.ablation.process import command, in_process
from elmo_tasks.ablation.runs import Run
from elmo_tasks.errors import InputError

RETRIES = 5
"""How many nodes may be lost under one run."""


def run_all(runs: Iterable[Run]) -> Iterator[RunFinished]:
    """
    The outcomes, as they come. Ray places runs by cores and GPUs: one core each (`OMP_NUM_THREADS`, if it is set), and
    a GPU where the cluster has some.

    The cluster is that of `RAY_ADDRESS`, or one of this machine alone. A run whose node is lost begins again on another
    one, from its last checkpoint; its result is one file, so that none counts twice.

    # Raises

    `InputError`
        If Ray is not installed.
    """
    ray = _ray()
    ray.init(address=os.environ.get("RAY_ADDRESS"), ignore_reinit_error=True, log_to_driver=False)
    cores = int(os.environ.get("OMP_NUM_THREADS") or 1)
    gpus = 1 if ray.cluster_resources().get("GPU") else 0
    remote = ray.remote(num_cpus=cores, num_gpus=gpus, max_retries=RETRIES)(in_process)
    refs: dict[str, Any] = {}
    waiting: dict[Any, Run] = {}
    for run in runs:
        folders.prepare_run_dir(run)
        others = [refs[digest] for digest in run.after if digest in refs]
        ref = remote.remote(command(run.folder), str(run.folder), _environment(cores), *others)
        refs[run.digest], waiting[ref] = ref, run
    try:
        while waiting:
            (ref,), _ = ray.wait(list(waiting))
            yield _outcome(ray, ref, waiting.pop(ref))
    finally:
        for ref in waiting:
            ray.cancel(ref, force=True)


def _environment(cores: int) -> dict[str, str]:
    """What a run must find on its node as it is here: scale, data root, and where the package lies."""
    ours = {key: value for key, value in os.environ.items() if key.startswith(("ELMO_TASKS_", "PYTHONPATH"))}
    return ours | {name: str(cores) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}


def _outcome(ray: Any, ref: Any, run: Run) -> RunFinished:
    try:
        code, seconds = ray.get(ref)
    except ray.exceptions.RayError as error:
        if folders.is_finished(run.folder):
            return RunFinished(run, 0.0, None)
        reason = f"Ray: {str(error).splitlines()[0]}"
        folders.note_failure(run, reason)
        return RunFinished(run, 0.0, reason)
    return RunFinished(run, seconds, conclude(run, code))


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise InputError("the executor ray needs Ray", hint="pip install 'elmo-tasks[ray]'") from None
