"""Runs as processes: their order, failures, and how they are stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.experiments.tables.schedule import execute_all
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


def run(folder: Path, name: str, after: list[Run] | None = None, **config: Any) -> Run:
    plan: dict[str, Any] = {
        "config": {"name": name, **config},
        "bilm_of": None,
        "ensemble": None,
    }
    if after:
        plan["ensemble"] = [other.digest for other in after]
    row = Row.model_validate(
        {
            "name": name,
            "config": "x.jsonnet",
            "row_label": "x",
            "column": "x",
            "metric": "f1",
        }
    )
    return Run(row, 1, plan, folder)


def local(workers: int, code: str = WORKER) -> LocalWorkers:
    """Do what the config of a run says, or other `code`, without imports."""
    return LocalWorkers(workers, command=("-S", "-c", code))


def events(runs: list[Run], *, workers: int, code: str = WORKER) -> list[str]:
    """
    `+a` when the run a starts, then a file of this name appears; `-a` when it finishes,
    then a file `a`.
    """
    found = []

    def started(run: Run) -> None:
        finished = [one for one in runs if run_dir.is_finished(one.folder)]
        assert set(run.after) <= {one.digest for one in finished}
        found.append(f"+{run.row.name}")
        (run.home / f"+{run.row.name}").touch()

    for run, failure in execute_all(runs, local(workers, code), started=started):
        found.append(f"-{run.row.name}{(f': {failure}' if failure else '')}")
        (run.home / run.row.name).touch()
    return found


def test_needed_runs_come_first(tmp_path: Path) -> None:
    """And others before the run that waits for them."""
    first = run(tmp_path, "first", wait_for=["other"])
    ensemble = run(tmp_path, "ensemble", [first])
    other = run(tmp_path, "other", wait_for=["+first"])
    found = events([first, ensemble, other], workers=2)
    assert set(found[:2]) == {"+first", "+other"}
    assert found[2] == "-other" and found[-1] == "-ensemble"


def test_failure(tmp_path: Path) -> None:
    """
    The reason is the last line of the log, and is kept. Only the runs that need a failed
    run are skipped.
    """
    first = run(tmp_path, "first", failure="error: no such layer")
    second = run(tmp_path, "second", [first])
    third = run(tmp_path, "third", [second])
    found = events([first, second, third, run(tmp_path, "other")], workers=1)
    assert [event for event in found if event[0] == "+"] == ["+first", "+other"]
    assert {event for event in found if event[0] == "-"} == {
        "-first: no such layer",
        "-second: a run that it needs failed",
        "-third: a run that it needs failed",
        "-other",
    }
    assert run_dir.read_failure(first.folder) == "no such layer"


def test_a_run_of_another_process_is_left_alone(tmp_path: Path) -> None:
    one = run(tmp_path, "a")
    with exclusive(one.folder):
        (found,) = events([one], workers=1)
    assert "that no other process writes to" in found
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
    code = (
        "import subprocess, sys\n"
        "if '/ends-' in sys.argv[1]: sys.exit(3)\n"
        "p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    )
    runs = [run(tmp_path, "a"), run(tmp_path, "b")]
    ends = run(tmp_path, "ends")
    generator = execute_all([*runs, ends], local(3, code), started=lambda run: None)
    assert next(generator)[0] is ends
    logs = [one.folder / run_dir.LOG for one in runs]
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
