"""
The folder of a run: plan, log, model, result. Files are written atomically, one process
at a time holds the lock.
"""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from elmo_tasks.system.files import write_text
from elmo_tasks.system.run_names import MODEL, epoch_metrics

PLAN = "plan.json"
RESULT = "result.json"
FAILURE = "failure.json"
LOG = "log.txt"

RESULT_KEYS = {
    "row",
    "seed",
    "hash",
    "commit",
    "device",
    "seconds",
    "epochs",
    "peak_memory",
    "scores",
    "curve",
}
SHARED = 60.0
"""
Seconds to wait for a folder of several runs or tables, to which another call writes a
plan or a table.
"""


def read_json(file: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None if there is no such file or object."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_json(file: Path, value: dict[str, Any]) -> None:
    """Write a JSON file atomically. Raises `InputError` if it cannot be written."""
    write_text(file, json.dumps(value, indent=1, ensure_ascii=False))


def read_result(folder: Path) -> dict[str, Any] | None:
    """
    The result of the run that the folder is named after; None if the run is not
    finished.
    """
    found = read_json(folder / RESULT)
    if found is None or not found.keys() >= RESULT_KEYS:
        return None
    return found if found["hash"] == folder.name.rpartition("-")[2] else None


def write_failure(folder: Path, reason: str) -> None:
    """Record why a run failed."""
    plan = read_json(folder / PLAN) or {}
    write_json(
        folder / FAILURE,
        {"row": plan.get("row"), "seed": plan.get("seed"), "reason": reason},
    )


def failed_at(folder: Path) -> int | None:
    """
    When the last attempt failed, in nanoseconds; None if none has failed since the run
    was last started.
    """
    try:
        return (folder / FAILURE).stat().st_mtime_ns
    except OSError:
        return None


def failure_of(folder: Path, code: int) -> str | None:
    """
    Why the run, whose process ended with this exit code, failed; None if it has a
    result.
    """
    if read_result(folder) is not None:
        return None
    recorded = read_json(folder / FAILURE)
    if code > 0 and recorded:
        return str(recorded["reason"])
    ended = "killed (out of memory?)" if code == -9 else f"exit code {code}"
    reason = f"{ended}, see {folder / LOG}"
    write_failure(folder, reason)
    return reason


def curve(folder: Path) -> list[dict[str, float]]:
    """
    For each epoch so far the training loss and the validation scores, without scores of
    single classes.
    """
    points = []
    files = epoch_metrics(folder / MODEL).values()
    for epoch, file in enumerate(files, start=1):
        metrics = read_json(file) or {}
        point: dict[str, float] = {"epoch": epoch}
        for key, value in numbers(metrics, "validation_").items():
            if "-" not in key:
                point[key] = value
        point |= numbers({"training_loss": metrics.get("training_loss")})
        points.append(point)
    return points


def epochs_done(home: Path) -> Counter[str]:
    """How many epochs each run below a folder has trained so far, by its hash."""
    done: Counter[str] = Counter()
    for model in home.glob(f"*/{MODEL}"):
        digest = model.parent.name.rpartition("-")[2]
        done[digest] += len(epoch_metrics(model))
    return done


def numbers(metrics: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """The finite metrics whose names start with the prefix, without it."""
    found = {}
    for key, value in metrics.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if key.startswith(prefix) and is_number and math.isfinite(value):
            found[key.removeprefix(prefix)] = float(value)
    return found
