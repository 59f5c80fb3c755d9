"""The folder of a run: its plan, log, model and result, each file whole or absent; one process at a time."""

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from elmo_tasks.ablation import process
from elmo_tasks.ablation.runs import Run
from elmo_tasks.atomic import atomic_write
from elmo_tasks.errors import InputError

PLAN, RESULT, FAILURE, LOG, ATTEMPT, MODEL = (
    "plan.json",
    "result.json",
    "failure.json",
    process.LOG,
    "attempt.json",
    "model",
)
BUSY = 75
"""The exit code of a process that finds another one at its run: a failure for the time being."""
WAIT = 20.0
"""Seconds for a process that is being ended to let go of a run."""
BEAT = 2.0
"""Seconds between two signs of life."""


def prepare_run_dir(run: Run) -> None:
    """Makes the folder of a run, and forgets how it failed before. Raises `InputError` where it cannot be written."""
    write_json(
        run.folder / PLAN,
        {"row": run.row.name, "seed": run.seed, "label": run.label, "split": run.row.split} | run.plan,
    )
    (run.folder / FAILURE).unlink(missing_ok=True)


def read_json(file: Path) -> dict[str, Any] | None:
    """What a JSON file of ours holds; None where it is not there, or is no whole object."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def write_json(file: Path, value: dict[str, Any]) -> None:
    """Writes a JSON file, whole or not at all. Raises `InputError`."""
    with atomic_write(file) as aside:
        aside.write_text(json.dumps(value, indent=1, ensure_ascii=False), "utf-8")


def note_failure(run: Run, reason: str) -> None:
    """Keeps why a run has failed. Raises `InputError` where it cannot be written."""
    write_json(run.folder / FAILURE, {"row": run.row.name, "seed": run.seed, "reason": reason})


def read_result(folder: Path) -> dict[str, Any] | None:
    """The result of the run that this folder is for; None where it has none, or none that is whole."""
    found = read_json(folder / RESULT) or {}
    if not {"seed", "device", "commit"} <= found.keys() or found.get("hash") != folder.name.rpartition("-")[2]:
        return None
    scores, curve = found.get("scores"), found.get("curve")
    spent = {key: found.get(key) for key in ("seconds", "epochs", "peak_memory")}
    numbers = [spent, scores, *(curve if isinstance(curve, list) else [None])]
    sound = all(isinstance(part, dict) and _has_numbers_alone(part) for part in numbers)
    return found if sound and all("epoch" in point for point in curve or ()) else None


def is_finished(folder: Path) -> bool:
    """Whether the run has its result."""
    return read_result(folder) is not None


def _has_numbers_alone(values: dict[str, Any]) -> bool:
    return all(isinstance(value, int | float) for value in values.values())


class BusyError(InputError):
    """Another process is at the run."""


@contextmanager
def held(folder: Path, *, wait: float) -> Iterator[None]:
    """
    Keeps other processes from the run; a process that ends, however, lets go.

    # Raises

    `InputError`
        If another one has it, for `wait` seconds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=wait):
            yield
    except Timeout:
        raise BusyError("another process is at this run", file=folder, hint="wait for it, or end it") from None


def seconds_before(folder: Path) -> float:
    """Seconds that attempts which ended early have spent, up to their last sign of life."""
    attempt = read_json(folder / ATTEMPT) or {}
    if not all(isinstance(attempt.get(key), int | float) for key in ("before", "began")):
        return 0.0
    return float(attempt["before"] + max(0.0, (folder / ATTEMPT).stat().st_mtime - attempt["began"]))


@contextmanager
def attempt(folder: Path) -> Iterator[None]:
    """Notes when this attempt begins and what those before it have spent, and gives signs of life while it goes on."""
    write_json(folder / ATTEMPT, {"before": seconds_before(folder), "began": time.time()})
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT):
            os.utime(folder / ATTEMPT)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        os.utime(folder / ATTEMPT)


def can_go_on(folder: Path, config: dict[str, Any]) -> bool:
    """
    Whether AllenNLP's `--recover` has something to go on from: a checkpoint of a training with this very config. What
    is there otherwise is removed.
    """
    model = folder / MODEL
    same = read_json(model / "config.json") == config
    if same and any(model.glob("model_state_e*.th")) and any(model.glob("training_state_e*.th")):
        return True
    shutil.rmtree(model, ignore_errors=True)
    return False


def remove_checkpoints(folder: Path) -> None:
    """Of a finished training the archive stays, and what says how it went."""
    for pattern in ("model_state_*.th", "training_state_*.th", "best.th"):
        for path in (folder / MODEL).glob(pattern):
            path.unlink()


def failure_reason(folder: Path, code: int) -> str:
    """The log's last line that tells something, with what is listed below; what ended the process, if none does."""
    if code < 0:
        killed = "killed, perhaps for want of memory" if code == -9 else f"ended by signal {-code}"
        return f"{killed} (log: {folder / LOG})"
    try:
        lines = (folder / LOG).read_text("utf-8", errors="replace").replace("\r", "\n").splitlines()
    except OSError:
        lines = []
    said = [line.rstrip() for line in lines if line.strip()]
    errors = [place for place, line in enumerate(said) if line.startswith("error:") or _is_exception(line)]
    if not errors:
        return (said or [f"exit code {code}, and no word"])[-1].strip()
    first, *rest = said[errors[-1] :]
    listed = [line.strip() for line in takewhile(lambda line: line.startswith("  "), rest)]
    return first.removeprefix("error: ") + (" " + "; ".join(listed) if first.endswith(":") else "")


def _is_exception(line: str) -> bool:
    name = line.partition(":")[0]
    return name.rpartition(".")[2].endswith(("Error", "Exception", "Interrupt")) and " " not in name
