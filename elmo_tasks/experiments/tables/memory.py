"""
The least memory that a run of a table takes, measured in a separate process by a step
of training and one of validation on the largest batches. On a CPU, a long run takes
more: freed memory is kept, and blocks of other sizes do not always fit into it.
"""

import copy
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.process import COMMAND
from elmo_tasks.experiments.tables.runs import Run, digest_of
from elmo_tasks.training.largest_batch import LARGEST_BATCH


@dataclass(frozen=True)
class Memory:
    """
    The peak memory of a run in bytes: of its process, and on its GPU, 0 if it has none.
    Or `failure`, why it could not be measured.
    """

    peak: int = 0
    peak_gpu: int = 0
    failure: str | None = None


def trains_a_task(run: Run) -> bool:
    """Whether a run trains the model of a task: others are not measured."""
    return not run.plan["ensemble"] and not run.plan["finetune"]


def measure(run: Run) -> Memory:
    """
    Train one step as a run that trains a task would: with all of its data, vectors and
    vocabulary in memory, on its largest batch, then validate on the largest batch of
    the validation data. The layers are computed, and nothing is cached or kept.
    """
    plan = _plan_of_step(run)
    with TemporaryDirectory() as home:
        folder = Path(home) / f"memory-{digest_of(plan)}"
        run_dir.write_json(folder / run_dir.PLAN, plan)
        with (folder / run_dir.LOG).open("ab") as log:
            done = subprocess.run(
                [sys.executable, *COMMAND, str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        result = run_dir.read_result(folder)
        if result is None:
            return Memory(failure=_failure(folder, done.returncode))
    return Memory(result["peak_memory"], result["peak_gpu_memory"])


def _plan_of_step(run: Run) -> dict[str, Any]:
    config = copy.deepcopy(run.plan["config"])
    of_validation = config.get("validation_data_loader") or config["data_loader"]
    config["data_loader"] = _largest(config["data_loader"])
    config["validation_data_loader"] = _largest(of_validation)
    config["trainer"] = config.get("trainer", {}) | {"num_epochs": 1}
    return {
        "row": run.row.name,
        "seed": run.seed,
        "packages": list(run.packages),
        "config": config,
        "cached": False,
        "file": None,
        "finetune": False,
        "bilm_of": None,
        "ensemble": None,
    }


def _largest(loader: dict[str, Any]) -> dict[str, Any]:
    return {"type": LARGEST_BATCH, "loader": loader}


def _failure(folder: Path, code: int) -> str:
    """Why the run, whose process ended with this exit code, has no result."""
    if code == -signal.SIGKILL:
        return "killed (out of memory?)"
    recorded = run_dir.read_json(folder / run_dir.FAILURE) or {}
    return str(recorded.get("reason", f"exit code {code}"))
