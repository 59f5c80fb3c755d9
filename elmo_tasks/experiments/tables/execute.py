"""Step 3, in the run's own process: execute the plan in `result.json`, and add its result."""

import json
import platform
import shutil
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.common.util import import_module_and_submodules
from pydantic import TypeAdapter

import elmo_tasks
from elmo_tasks.elmo.devices import best_device, cuda_number
from elmo_tasks.elmo.models.record import read_record
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.ensemble import score_ensemble
from elmo_tasks.experiments.tables.runs import needed_folder, runnable
from elmo_tasks.experiments.tables.table import ASIDE
from elmo_tasks.system.files import exclusive
from elmo_tasks.system.processes import exit_with_parent
from elmo_tasks.system.run_names import (
    ARCHIVE,
    CONFIG,
    METRICS,
    MODEL,
    PERPLEXITIES,
)
from elmo_tasks.training.archives.loading import load_archive, score
from elmo_tasks.training.config import get
from elmo_tasks.training.data.subsampling import Part, rest_of
from elmo_tasks.training.folder import (
    digests,
    has_checkpoint,
    recorded_inputs,
    remove_checkpoints,
)
from elmo_tasks.training.run import train

PACKAGES = ("torch", "allennlp", "numpy")
_DESCRIBE = ("describe", "--always", "--exclude=*", "--abbrev=40", "--dirty=+")


def execute(
    folder: str | Path,
    *,
    parent: int | None = None,
    report: Callable[[str], None] | None = None,
) -> None:
    """
    Execute the plan in a run's folder and add the result. A finished run is skipped,
    an interrupted training resumes from its last checkpoint. With `parent`, a process
    id, it exits when that process does. For `report` see `training.run.train`.
    Raises `InputError` if the folder has no plan, and `Held` if another process
    executes it.
    """
    path = Path(folder).absolute()
    if parent is not None:
        exit_with_parent(parent)
    with exclusive(path):
        plan = run_dir.read_json(path / run_dir.RESULT)
        if plan is None:
            hint = "`elmo-tasks ablate` writes it"
            raise InputError(f"no {run_dir.RESULT}", file=path, hint=hint)
        if not run_dir.is_finished(path):
            _execute(plan, path, report)


def _execute(
    plan: dict[str, Any],
    path: Path,
    report: Callable[[str], None] | None,
) -> None:
    for package in plan.get("packages", []):
        import_module_and_submodules(package)
    started = _now()
    began = time.monotonic()
    if plan["ensemble"]:
        scored = _score_ensemble(plan, path)
    else:
        scored = _train(plan, path, report)
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        versions[name] = version(name)
    versions["elmo_tasks"] = elmo_tasks.__version__
    result = plan | {"hash": path.name.rpartition("-")[2]}
    result |= {"commit": commit(), "versions": versions, "device": device()} | scored
    seconds = max(scored["seconds"], time.monotonic() - began)
    result["seconds"] = round(seconds, 1)
    result["started"] = started
    result["finished"] = _now()
    run_dir.write_json(path / run_dir.RESULT, result)
    remove_checkpoints(path / MODEL)


def _train(
    plan: dict[str, Any],
    path: Path,
    report: Callable[[str], None] | None,
) -> dict[str, Any]:
    config = runnable(plan, path.parent)
    model = path / MODEL
    resume = has_checkpoint(model) or (model / ARCHIVE).is_file()
    if model.is_dir() and not resume:
        shutil.rmtree(model)
    if resume:  # with other paths, if the folders have been moved
        run_dir.write_json(model / CONFIG, config)
    train(
        Params(config),
        model,
        recover=resume,
        packages=plan.get("packages", []),
        report=report,
    )
    metrics = json.loads((model / METRICS).read_text("utf-8"))
    scores = run_dir.numbers(metrics, "best_validation_")
    if plan["file"]:
        archive = load_archive(model / ARCHIVE, cuda_device=cuda_number(best_device()))
        scores = run_dir.numbers(score(archive, plan["file"]))
    part = get(plan, "config.data_loader.part")
    if part is not None:
        scores |= _score_rest(plan, model / ARCHIVE, rest_of(part))
    scores |= run_dir.read_json(model / PERPLEXITIES) or {}
    scores["best_epoch"] = metrics["best_epoch"] + 1  # epochs count from 1
    curve = run_dir.curve(path)
    # Of all attempts.
    trained = TypeAdapter(timedelta).validate_python(metrics["training_duration"])
    return {
        "scores": scores,
        "curve": curve,
        "epochs": len(curve),
        "inputs": recorded_inputs(model)
        | {frozen.name: frozen.sha256 for frozen in read_record(model)}
        | digests(plan, ["file"]),
        "seconds": trained.total_seconds(),
    }


def _score_rest(
    plan: dict[str, Any], archive_file: Path, rest: Part
) -> dict[str, float]:
    """
    The scores of the best epoch on the part of the training data that was put aside,
    read as the validation data are.
    """
    archive = load_archive(archive_file, cuda_device=cuda_number(best_device()))
    data = plan["config"]["train_data_path"]
    found = run_dir.numbers(score(archive, data, part=rest))
    return {f"{ASIDE}{name}": value for name, value in found.items()}


def _score_ensemble(plan: dict[str, Any], path: Path) -> dict[str, Any]:
    archives = []
    for digest in plan["ensemble"]:
        archives.append(needed_folder(path.parent, digest) / MODEL / ARCHIVE)
    data = plan["file"] or plan["config"]["validation_data_path"]
    scores = score_ensemble(archives, data)
    return {
        "scores": run_dir.numbers(scores),
        "curve": [],
        "epochs": 0,
        "inputs": digests({"file": data}, ["file"]),
        "seconds": 0.0,
    }


def device() -> str:
    """The GPU's name, or the number of CPU threads."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    threads = torch.get_num_threads()
    return f"CPU, {threads} thread{'s' if threads > 1 else ''}"


def commit() -> str:
    """
    The commit of the source tree, with a `+` if files have changed; without a
    repository the package's version.
    """
    root = str(Path(elmo_tasks.__file__).resolve().parents[1])
    command = ["git", "-C", root, *_DESCRIBE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return f"version {elmo_tasks.__version__}"
    return done.stdout.strip()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
