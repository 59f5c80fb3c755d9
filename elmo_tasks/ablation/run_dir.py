"""The folder of a run: plan, log, model, result. Files are written atomically, one process at a time holds the lock."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from elmo_tasks.ablation.runs import Run
from elmo_tasks.atomic import atomic_write
from elmo_tasks.errors import InputError

PLAN, RESULT, FAILURE, MODEL, LOG = "plan.json", "result.json", "failure.json", "model", "log.txt"
RESULT_KEYS = {"row", "seed", "hash", "commit", "device", "seconds", "epochs", "peak_memory", "scores", "curve"}
LOCK_TIMEOUT = 20.0
"""Seconds to wait for the lock: a process that received SIGTERM may still hold it."""


def prepare_run_dir(run: Run) -> None:
    """Write the plan of a run and delete the failure of an earlier attempt. Raises `InputError` if it cannot."""
    about = {"row": run.row.name, "seed": run.seed, "label": run.label, "split": run.row.split}
    write_json(run.folder / PLAN, about | run.plan)
    (run.folder / FAILURE).unlink(missing_ok=True)


def read_json(file: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None if there is no such file or object."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_json(file: Path, value: dict[str, Any]) -> None:
    """Write a JSON file atomically. Raises `InputError` if it cannot be written."""
    with atomic_write(file) as aside:
        aside.write_text(json.dumps(value, indent=1, ensure_ascii=False), "utf-8")


def read_result(folder: Path) -> dict[str, Any] | None:
    """The result of the run that the folder is named after; None if the run is not finished."""
    found = read_json(folder / RESULT) or {}
    return found if found.keys() >= RESULT_KEYS and found["hash"] == folder.name.rpartition("-")[2] else None


def write_failure(folder: Path, reason: str) -> None:
    """Record why a run failed."""
    plan = read_json(folder / PLAN) or {}
    write_json(folder / FAILURE, {"row": plan.get("row"), "seed": plan.get("seed"), "reason": reason})


def failure_of(folder: Path, code: int) -> str | None:
    """Why the run, whose process ended with this exit code, failed; None if it has a result."""
    if read_result(folder) is not None:
        return None
    if code > 0 and (recorded := read_json(folder / FAILURE)):
        return str(recorded["reason"])
    ended = "killed (out of memory?)" if code == -9 else f"exit code {code}"
    reason = f"{ended}, see {folder / LOG}"
    write_failure(folder, reason)
    return reason


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock a run; `InputError` if another process holds it. The system releases the lock of a killed process."""
    try:
        with FileLock(folder / ".lock", timeout=LOCK_TIMEOUT):
            yield
    except Timeout:
        raise InputError("another process executes this run", file=folder, hint="wait for it, or stop it") from None


def has_checkpoint(folder: Path, config: dict[str, Any]) -> bool:
    """Whether `--recover` can resume a training with this config. Deletes a model folder from which it cannot."""
    model = folder / MODEL
    if read_json(model / "config.json") == config and all(
        any(model.glob(f"{state}_e*.th")) for state in ("model_state", "training_state")
    ):
        return True
    shutil.rmtree(model, ignore_errors=True)
    return False


def remove_checkpoints(folder: Path) -> None:
    """Delete what a finished training needs no longer; the archive and the metrics remain."""
    for pattern in ("model_state_*.th", "training_state_*.th", "best.th"):
        for path in (folder / MODEL).glob(pattern):
            path.unlink()
