"""
Seconds per epoch with a full-size biLM, with and without the layer cache, and without
ELMo.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from elmo_tasks.bilm import BiLM, BiLMOptions


def epochs(config: str, folder: Path, overrides: dict[str, Any]) -> list[float]:
    """
    Seconds between the metrics of one epoch and those of the next: training, validation
    and the checkpoint.
    """
    command = [
        sys.executable,
        "-m",
        "elmo_tasks",
        "train",
        config,
        "-s",
        str(folder),
        "-o",
        json.dumps(overrides),
    ]
    log = folder.with_suffix(".log")
    with log.open("w") as file:
        failed = subprocess.run(command, stdout=file, stderr=file).returncode
    if failed:
        raise SystemExit(f"{' '.join(command)} failed:\n{log.read_text()[-2000:]}")
    written = []
    for epoch in range(_count(folder)):
        metrics = folder / f"metrics_epoch_{epoch}.json"
        written.append(metrics.stat().st_mtime)
    return [after - before for before, after in pairwise(written)]


def _count(folder: Path) -> int:
    return len(list(folder.glob("metrics_epoch_*.json")))


def shown(task: str, name: str, seconds: list[float], baseline: float) -> str:
    median = statistics.median(seconds)
    spread = f"{min(seconds):.1f}-{max(seconds):.1f}"
    return f"| {task} | {name} | {median:.1f} | {spread} | {len(seconds)} | {median / baseline:.2f} |"


def measure(
    task: str, folder: Path, files: dict[str, str], few: int, many: int
) -> None:
    elmo: dict[str, Any] = {f"model.elmo.{key}": file for key, file in files.items()}
    config = f"training_config/{task}_elmo.jsonnet"
    cached = elmo | {"model.elmo.cache_dir": str(folder / "layers")}
    plain = f"training_config/{task}.jsonnet"
    long = {"trainer.num_epochs": many}
    short = {"trainer.num_epochs": few}
    runs = {
        "without ELMo": epochs(plain, folder / f"{task}-none", long),
        "cached": epochs(config, folder / f"{task}-cached", cached | long),
        "not cached": epochs(config, folder / f"{task}-uncached", elmo | short),
    }
    baseline = statistics.median(runs["without ELMo"])
    for name, seconds in runs.items():
        print(shown(task, name, seconds, baseline), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", default=["ner", "snli"])
    parser.add_argument("--few", type=int, default=3, help="epochs without the cache")
    parser.add_argument("--many", type=int, default=6, help="epochs of the others")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)
    print(
        f"torch {torch.__version__}, {arguments.threads} threads, {platform.machine()}, scale mini, biLM 4096/512"
    )
    print(
        "| task | | seconds an epoch after the first, median | range | n | times without ELMo |"
    )
    print("|---|---|---|---|---|---|")
    torch.manual_seed(13)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {
            "options_file": str(folder / "options.json"),
            "weight_file": str(folder / "weights.hdf5"),
        }
        BiLM(BiLMOptions()).save_files(*files.values())
        for task in arguments.tasks:
            measure(task, folder, files, arguments.few, arguments.many)


if __name__ == "__main__":
    main()
