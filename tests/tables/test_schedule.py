"""Runs as processes: their order, failures, interrupts, and the files of a run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.experiments.tables.schedule import (
    ENDED,
    ScheduledRun,
    Scheduler,
    State,
)
from elmo_tasks.experiments.tables.table import Row
from elmo_tasks.system.files import exclusive
from tests.system import is_alive
from tests.tables.tables import finish

WORKER = """
import json, pathlib, sys, time
folder = pathlib.Path(sys.argv[1])
plan = json.loads((folder / "plan.json").read_text())
config = plan["config"]
while any(not (folder.parent / name).exists() for name in config.get("wait_for", [])):
    time.sleep(0.01)
if config.get("taken") and not (folder / "taken").exists():
    (folder / "taken").touch()
    sys.exit(75)
if config.get("failure"):
    (folder / "failure.json").write_text(json.dumps({"reason": config["failure"]}))
elif not config.get("code"):
    keys = dict.fromkeys(("commit", "device", "seconds", "epochs", "peak_memory", "scores", "curve"))
    result = {"row": "x", "seed": 1, "hash": folder.name.rpartition("-")[2]} | keys
    (folder / "result.json").write_text(json.dumps(result))
sys.exit(config.get("code", 0))
"""


def run_all(
    runs: list[Run], *, workers: int, code: str = WORKER, join: bool = False
) -> Generator[ScheduledRun]:
    """
    Runs that do what their config says, or other `code`, in processes without imports.
    """
    scheduler = Scheduler(
        runs,
        LocalWorkers(workers),
        join=join,
        command=("-S", "-c", code),
        poll_seconds=0.01,
    )
    yield from scheduler.changes()


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
    for event in run_all(runs, workers=workers, code=code):
        name = event.run.row.name
        if event.state in ENDED:
            why = f": {event.failure}" if event.failure else ""
            found.append(f"-{name}{why}")
            (event.run.folder.parent / name).touch()
        elif event.state is State.RUNNING:
            found.append(f"+{name}")
            (event.run.folder.parent / f"+{name}").touch()
    return found


def test_two_workers(tmp_path: Path) -> None:
    runs = [
        run(tmp_path, "a", wait_for=["b", "c"]),
        run(tmp_path, "b", wait_for=["+a"]),
        run(tmp_path, "c"),
    ]
    found = events(runs, workers=2)
    assert sorted(found[:2]) == ["+a", "+b"]
    assert found[2:] == ["-b", "+c", "-c", "-a"]


def test_needed_runs_come_first(tmp_path: Path) -> None:
    first = run(tmp_path, "first", wait_for=["other"])
    ensemble = run(tmp_path, "ensemble", [first])
    other = run(tmp_path, "other", wait_for=["+first"])
    found = events([ensemble, first, other], workers=2)
    assert sorted(found[:2]) == ["+first", "+other"]
    assert found[2:] == ["-other", "-first", "+ensemble", "-ensemble"]


def test_failure(tmp_path: Path) -> None:
    """Only the runs that need a failed run are skipped."""
    first = run(tmp_path, "first", code=1, failure="ValueError: no such layer")
    second = run(tmp_path, "second", [first])
    found = events([first, second, run(tmp_path, "other")], workers=1)
    skipped = "-second: a run that it needs failed"
    assert found == [
        "+first",
        "-first: ValueError: no such layer",
        skipped,
        "+other",
        "-other",
    ]


def test_a_run_of_another_process_is_awaited(tmp_path: Path) -> None:
    """
    Its result is read; if it has none, the run is taken over. So is one that was taken
    while it started.
    """
    runs = [run(tmp_path, "a"), run(tmp_path, "b"), run(tmp_path, "c", taken=True)]
    for one in runs[:2]:
        one.prepare()
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(exclusive(runs[0].folder))
        second.enter_context(exclusive(runs[1].folder))
        found = []
        for event in run_all(runs, workers=1):
            found.append(f"{event.run.row.name} {event.state.name}")
            assert event.failure is None
            if found[-1] == "c FINISHED":
                finish(runs[0])
                first.close()
            if found[-1] == "a FINISHED":
                second.close()
    expected = ["a HELD", "b HELD", "c RUNNING", "c RUNNING", "c FINISHED"]
    assert found == [*expected, "a FINISHED", "b RUNNING", "b FINISHED"]


def test_join(tmp_path: Path) -> None:
    """
    It waits for what a run needs, repeats no run that failed elsewhere, and leaves
    those that others execute.
    """
    needed, held, failing = (
        run(tmp_path, "needed"),
        run(tmp_path, "held"),
        run(tmp_path, "failing"),
    )
    runs = [
        needed,
        held,
        failing,
        run(tmp_path, "a", wait_for=["go"]),
        run(tmp_path, "b", [needed]),
    ]
    for one in runs[:3]:
        one.prepare()
    with ExitStack() as others, ExitStack() as other:
        others.enter_context(exclusive(held.folder))
        for one in (needed, failing):
            other.enter_context(exclusive(one.folder))
        found = []
        for event in run_all(runs, workers=1, join=True):
            if event.run.row.name == "a" and event.state is State.RUNNING:
                finish(needed)
                run_dir.write_failure(failing.folder, "no such layer")
                other.close()
                (tmp_path / "go").touch()
            if event.state in ENDED:
                found.append((event.run.row.name, event.failure))
    assert sorted(found) == [
        ("a", None),
        ("b", None),
        ("failing", "no such layer"),
        ("needed", None),
    ]


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
    code = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    runs = [run(tmp_path, "a"), run(tmp_path, "b")]
    generator = run_all(runs, workers=2, code=code)
    logs = [next(generator).run.folder / run_dir.LOG for _ in range(2)]
    while not all(log.read_text() for log in logs):
        time.sleep(0.05)
    generator.close()
    assert not any(is_alive(int(log.read_text())) for log in logs)


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


def test_programs_share_cores_and_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for given, slots, threads in (("", 2, "4"), ("", 20, "1"), ("3", 2, "3")):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert LocalWorkers(slots).share(0)["OMP_NUM_THREADS"] == threads
    three = LocalWorkers(3)
    gpus = [three.share(slot)["CUDA_VISIBLE_DEVICES"] for slot in range(3)]
    assert gpus == ["0", "1", "0"]
    assert "CUDA_VISIBLE_DEVICES" not in LocalWorkers(1).share(0)
