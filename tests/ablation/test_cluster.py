"""Runs on a Ray cluster that loses one of its two nodes."""

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.ablation import cluster, process, run_dir
from elmo_tasks.ablation.local import RunFinished
from tests.ablation.test_local import run

ray = pytest.importorskip("ray", reason="Ray is optional: pip install ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

WORKER = """
import json, os, sys, time
from pathlib import Path
from elmo_tasks.ablation import process
process.POLL_SECONDS = 0.05
process.exit_with_parent(int(sys.argv[3]))
folder = Path(sys.argv[1])
with (folder / "started.txt").open("a") as file:
    print(os.getpid(), file=file)
while (folder.parent / "wait").exists():
    time.sleep(0.05)
temporary = folder / "result.tmp"
result = {"row": "x", "seed": 1, "hash": folder.name.rpartition("-")[2], "device": "cpu", "commit": "c"}
result |= {"scores": {}, "curve": []}
temporary.write_text(json.dumps(result | {"seconds": 1.0, "epochs": 0, "peak_memory": os.getpid()}))
temporary.rename(folder / "result.json")
"""
"""A run that ends once the file `wait` is gone."""


def started(folder: Path) -> list[str]:
    file = folder / "started.txt"
    return file.read_text().split() if file.exists() else []


def test_lost_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "command", lambda folder: [sys.executable, "-c", WORKER, str(folder)])
    monkeypatch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    nodes = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = nodes.add_node(num_cpus=1)
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    (tmp_path / "wait").touch()
    runs = [run(tmp_path, name) for name in "abcd"]
    try:
        outcomes: list[RunFinished] = []
        listener = threading.Thread(target=lambda: outcomes.extend(cluster.run_all(runs)))
        listener.start()
        _until(lambda: sum(bool(started(one.folder)) for one in runs) == 2)
        nodes.remove_node(second, allow_graceful=False)
        _until(lambda: any(not Path(f"/proc/{process}").exists() for one in runs for process in started(one.folder)))
        (tmp_path / "wait").unlink()
        listener.join(120)
    finally:
        ray.shutdown()
        nodes.shutdown()
    assert sorted(outcome.run.row.name for outcome in outcomes) == ["a", "b", "c", "d"]
    assert [outcome.reason for outcome in outcomes] == [None] * 4
    assert all(run_dir.read_result(one.folder) for one in runs)
    assert sum(len(started(one.folder)) for one in runs) >= 5, "the lost node's run was retried"


def _until(holds: Callable[[], bool], seconds: float = 150.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)
