"""Third step, in a process of its own: the plan in a run's folder -> training, scores, `result.json`."""

import json
import math
import platform
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from allennlp.commands.evaluate import evaluate_from_archive
from allennlp.commands.train import train_model
from allennlp.common import Params

import elmo_tasks
from elmo_tasks.ablation import folder as folders
from elmo_tasks.ablation.ensemble import score_ensemble
from elmo_tasks.ablation.runs import find_folder, runnable
from elmo_tasks.ablation.watch import exit_with_parent
from elmo_tasks.errors import InputError

BEST = "best_validation_"
PACKAGES = ("torch", "allennlp", "numpy")
PLUGIN = "elmo_tasks.plugin"


def execute(folder: str | Path, *, parent: int | None = None) -> None:
    """
    Does what a run's plan says, and writes its result; does nothing where it is there already. A training that was
    broken off goes on from its last checkpoint.

    # Parameters

    folder : `str` or `Path`
    parent : `int`, optional
        The process that started this one, which ends when it does.

    # Raises

    `InputError`
        If the folder holds no plan, or another process is at the run; besides, whatever training raises.
    """
    place = Path(folder).absolute()
    plan = folders.read_json(place / folders.PLAN)
    if plan is None:
        raise InputError(f"no {folders.PLAN}", file=place, hint="`allennlp ablate` lays runs out")
    if parent is not None:
        exit_with_parent(parent)
    with folders.held(place, wait=folders.WAIT):
        if folders.is_finished(place):
            return
        before, began = folders.seconds_before(place), time.time()
        with folders.attempt(place):
            found = _ensemble(plan, place) if plan["ensemble"] else _train(plan, place)
        spent = {"seconds": round(before + time.time() - began, 1), "started": _clock(began), **_used()}
        folders.write_json(place / folders.RESULT, _about(plan, place) | found | spent)
        folders.remove_checkpoints(place)


def _train(plan: dict[str, Any], place: Path) -> dict[str, Any]:
    config = runnable(plan, place.parent)
    go_on = folders.can_go_on(place, config)
    model = place / folders.MODEL
    train_model(Params(config), str(model), recover=go_on, include_package=[PLUGIN], file_friendly_logging=True)
    metrics = json.loads((model / "metrics.json").read_text("utf-8"))
    scores = {key.removeprefix(BEST): value for key, value in _numbers(metrics).items() if key.startswith(BEST)}
    if plan["file"]:
        device = 0 if torch.cuda.is_available() else -1
        scores = _numbers(evaluate_from_archive(model / "model.tar.gz", plan["file"], cuda_device=device))
    scores |= folders.read_json(model / "perplexities.json") or {}
    # Epochs count from 1.
    scores["best_epoch"] = metrics["best_epoch"] + 1
    curve = _curve(model)
    return {"scores": scores, "curve": curve, "epochs": len(curve)}


def _ensemble(plan: dict[str, Any], place: Path) -> dict[str, Any]:
    members = [find_folder(place.parent, digest) for digest in plan["ensemble"]["members"]]
    archives = [folder / folders.MODEL / "model.tar.gz" for folder in members if folder is not None]
    if len(archives) < len(members):
        raise InputError("some members of the ensemble are not there", file=place.parent)
    data = plan["file"] or plan["config"]["validation_data_path"]
    scores = score_ensemble(archives, data, how=plan["ensemble"]["how"])
    return {"scores": _numbers(scores), "curve": [], "epochs": 0}


def _curve(model: Path) -> list[dict[str, float]]:
    """Of each epoch what can be drawn: the training loss, and the validation's scores."""
    files = sorted(model.glob("metrics_epoch_*.json"), key=lambda file: int(file.stem.rpartition("_")[2]))
    points = []
    for epoch, file in enumerate(files, start=1):
        found = _numbers(json.loads(file.read_text("utf-8")))
        kept = {k.removeprefix("validation_"): v for k, v in found.items() if k.startswith("validation_")}
        kept |= {"training_loss": found["training_loss"]} if "training_loss" in found else {}
        points.append({"epoch": epoch, **{key: value for key, value in kept.items() if "-" not in key}})
    return points


def _numbers(metrics: dict[str, Any]) -> dict[str, float]:
    """Those of the metrics that are finite numbers."""
    numbers = {k: v for k, v in metrics.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    return {key: float(value) for key, value in numbers.items() if math.isfinite(value)}


def _about(plan: dict[str, Any], place: Path) -> dict[str, Any]:
    told = {key: value for key, value in plan.items() if key != "label"}
    versions = {name: version(name) for name in PACKAGES} | {"elmo_tasks": elmo_tasks.__version__}
    return {
        **told,
        "hash": place.name.rpartition("-")[2],
        "commit": commit(),
        "versions": {"python": platform.python_version(), **versions},
        "device": device(),
    }


def device() -> str:
    """The GPU's name, or the number of CPU threads."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    threads = torch.get_num_threads()
    return f"CPU, {threads} thread{'s' if threads > 1 else ''}"


def _used() -> dict[str, Any]:
    """Peak memory in bytes: of this process and the largest of its children; on the GPU, what torch had."""
    unit = 1 if sys.platform == "darwin" else 1024
    peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    gpu = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    return {"peak_memory": peak * unit, "peak_gpu_memory": gpu, "finished": _clock(time.time())}


def commit() -> str:
    """The commit of the project's checkout, `+` behind it where files have changed; its version where there is none."""
    root = Path(elmo_tasks.__file__).resolve().parents[1]
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return _installed()


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _installed() -> str:
    try:
        return f"version {version('elmo-tasks')}"
    except PackageNotFoundError:
        return "not known"


def _clock(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
