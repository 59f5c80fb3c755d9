"""
The folder of a run: its log, its model, and `result.json`, which has the plan when the
run begins and the scores when it ends, or why it failed.
"""

import json
import math
import signal
from pathlib import Path
from typing import Any

from elmo_tasks.system.files import write_text
from elmo_tasks.system.run_names import MODEL, epoch_metrics

RESULT = "result.json"
LOG = "log.txt"


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
    """The result of a run; None if it is not finished."""
    found = read_json(folder / RESULT)
    if found is None or "scores" not in found:
        return None
    return found


def is_finished(folder: Path) -> bool:
    """Whether the run of a folder has its result."""
    return read_result(folder) is not None


def write_failure(folder: Path, reason: str) -> None:
    """Add to a plan why its run failed."""
    plan = read_json(folder / RESULT) or {}
    write_json(folder / RESULT, plan | {"failed": reason})


def read_failure(folder: Path) -> str | None:
    """Why the last attempt failed; None if none has since the run was last started."""
    return (read_json(folder / RESULT) or {}).get("failed")


def failure_of(folder: Path, code: int) -> str:
    """
    Why a run without a result failed, whose process ended with this exit code: the last
    line of its log.
    """
    log = folder / LOG
    if code == -signal.SIGKILL:
        return f"killed (out of memory?), see {log}"
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    if code < 0 or not lines:
        return f"exit code {code}, see {log}"
    return lines[-1].removeprefix("error: ")


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


def numbers(metrics: dict[str, Any], prefix: str = "") -> dict[str, float]:
    """The finite metrics whose names start with the prefix, without it."""
    found = {}
    for key, value in metrics.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if key.startswith(prefix) and is_number and math.isfinite(value):
            found[key.removeprefix(prefix)] = float(value)
    return found
