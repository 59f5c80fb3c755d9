"""Runs as processes: their order, failures, and how they are stopped."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.experiments.tables.schedule import Change, execute_all
from elmo_tasks.experiments.tables.table import Row
from elmo_tasks.system.files import exclusive
from tests.system import is_alive

WORKER = """
import json, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
plan = json.loads((folder / "result.json").read_text())
config = plan["config"]
while any(not (folder.parent / name).exists() for name in config.get("wait_for", [])):
    time.sleep(0.01)
if "failure" in config:
    sys.exit(config["failure"])
(folder / "result.json").write_text(json.dumps(plan | {"scores": {}}))
"""


def run_all(runs: list[Run], *, workers: int, code: str = WORKER) -> Generator[Change]:
    """
    Runs that do what their config says, or other `code`, in processes without imports.
    """
    yield from execute_all(runs, LocalWorkers(workers, command=("-S", "-c", code)))


def run(folder: Path, name: str, after: list[Run] | None = None, **config: Any) -> Run:
    plan: dict[str, Any] = {
        "config": {"name": name, **config},
        "bilm_of": None,
        "ensemble": None,
    }
    if after:
        plan["ensemble"] = {"members": [other.digest for other in after]}
    row = Row.model_validate(
        {"name": name, "config": "x.jsonnet", "column": "x", "metric": "f1"}
    )
    return Run(row, 1, plan, folder)


def events(runs: list[Run], *, workers: int, code: str = WORKER) -> list[str]:
    """
    `+a` when the run a starts, then a file of this name appears; `-a` when it finishes,
    then a file `a`.
    """
    found = []
    for change in run_all(runs, workers=workers, code=code):
        sign = "-" if change.has_ended else "+"
        name = change.run.row.name
        why = f": {change.failure}" if change.failure else ""
        found.append(f"{sign}{name}{why}")
        (change.run.home / f"{sign}{name}".lstrip("-")).touch()
    return found


def test_two_workers(tmp_path: Path) -> None:
    runs = [
        run(tmp_path, "a", wait_for=["b", "c"]),
        run(tmp_path, "b", wait_for=["+a"]),
        run(tmp_path, "c"),
    ]
    assert events(runs, workers=2) == ["+a", "+b", "-b", "+c", "-c", "-a"]


def test_needed_runs_come_first(tmp_path: Path) -> None:
    first = run(tmp_path, "first", wait_for=["other"])
    ensemble = run(tmp_path, "ensemble", [first])
    other = run(tmp_path, "other", wait_for=["+first"])
    found = events([ensemble, first, other], workers=2)
    assert found[:2] == ["+first", "+other"]
    assert found[2:] == ["-other", "-first", "+ensemble", "-ensemble"]


def test_failure(tmp_path: Path) -> None:
    """
    The reason is the last line of the log, and is kept. Only the runs that need a failed
    run are skipped.
    """
    first = run(tmp_path, "first", failure="error: no such layer")
    second = run(tmp_path, "second", [first])
    third = run(tmp_path, "third", [second])
    found = events([first, second, third, run(tmp_path, "other")], workers=1)
    assert found[:2] == ["+first", "-first: no such layer"]
    assert found[2:4] == [
        "-second: a run that it needs failed",
        "-third: a run that it needs failed",
    ]
    assert found[4:] == ["+other", "-other"]
    assert run_dir.read_failure(first.folder) == "no such layer"


def test_a_run_of_another_process_is_left_alone(tmp_path: Path) -> None:
    one = run(tmp_path, "a")
    with exclusive(one.folder):
        (found,) = [change for change in run_all([one], workers=1) if change.has_ended]
    assert "that no other process writes to" in str(found.failure)
    assert not (one.folder / run_dir.RESULT).exists()


def test_a_killed_run_leaves_no_processes(tmp_path: Path) -> None:
    code = "import os, subprocess; print(subprocess.Popen(['sleep', '60']).pid, flush=True); os.kill(os.getpid(), 9)"
    one = run(tmp_path, "a")
    log = one.home / one.folder.name / run_dir.LOG
    assert events([one], workers=1, code=code) == [
        "+a",
        f"-a: killed (out of memory?), see {log}",
    ]
    assert not is_alive(int(log.read_text()))


def test_closing_stops_processes_and_their_children(tmp_path: Path) -> None:
    """And is no failure."""
    code = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    runs = [run(tmp_path, "a"), run(tmp_path, "b")]
    generator = run_all(runs, workers=2, code=code)
    logs = [next(generator).run.folder / run_dir.LOG for _ in range(2)]
    while not all(log.exists() and log.read_text() for log in logs):
        time.sleep(0.05)
    generator.close()
    assert not any(is_alive(int(log.read_text())) for log in logs)
    assert [run_dir.read_failure(one.folder) for one in runs] == [None, None]


_PARENT = """
import os, subprocess, sys
command = [sys.executable, "-c", sys.argv[1], str(os.getpid())]
child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
print(child.pid, child.stdout.readline(), flush=True)
child.wait()
"""


def test_a_run_and_its_children_exit_with_its_parent() -> None:
    worker = (
        "import subprocess, sys; from elmo_tasks.system import processes; processes.POLL_SECONDS = 0.05;"
        " processes.exit_with_parent(int(sys.argv[1])); p = subprocess.Popen(['sleep', '60']);"
        " print(p.pid, flush=True); p.wait()"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, worker], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    children = [int(pid) for pid in parent.stdout.readline().split()]
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert len(children) == 2 and not any(map(is_alive, children))


def test_programs_have_a_core_each_and_share_gpus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for given, threads in (("", "1"), ("3", "3")):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert LocalWorkers(2).share(0)["OMP_NUM_THREADS"] == threads
    three = LocalWorkers(3)
    gpus = [three.share(slot)["CUDA_VISIBLE_DEVICES"] for slot in range(3)]
    assert gpus == ["0", "1", "0"]
    assert "CUDA_VISIBLE_DEVICES" not in LocalWorkers(1).share(0)
