"""A table on a Ray cluster of three nodes on this machine, one of which dies."""

import time
from collections.abc import Callable, Generator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.cluster import RayWorkers
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.experiments.tables.schedule import execute_all
from elmo_tasks.experiments.tables.session import Session
from elmo_tasks.system.files import Held, exclusive
from elmo_tasks.system.ray_cluster import connected
from tests.ray_nodes import nodes
from tests.tables.tables import LAST, row, write_table
from tests.tiny import ROOT

__all__ = ["nodes"]

pytestmark = pytest.mark.slow

SECONDS = 120.0
"""The timeout, long enough for a busy machine."""
WORKER = """
import fcntl, json, os, pathlib, sys, time
sys.path.insert(0, ROOT)
from elmo_tasks.system import processes
processes.POLL_SECONDS = 0.05
processes.exit_with_parent(int(sys.argv[3]))
folder = pathlib.Path(sys.argv[1])
plan, steps = json.loads((folder / "result.json").read_text()), folder / "steps"
lock = (folder / ".elmo_tasks.lock").open("w")
fcntl.flock(lock, fcntl.LOCK_EX)
for step in range(len(steps.read_text().split()) if steps.exists() else 0, 3):
    while step == 2 and (folder.parent.parent / "wait").exists():
        time.sleep(0.02)
    with steps.open("a") as file:
        print(os.environ["OMP_NUM_THREADS"], file=file)
keys = {"commit": "c", "device": "CPU", "versions": {}, "finished": "2026-11-21", "seconds": 1.0, "curve": []}
result = {"row": plan["row"], "seed": plan["seed"], **keys}
scores = dict.fromkeys(("f1", "accuracy"), plan["seed"] / 7)
(folder / "result.json").write_text(json.dumps(result | {"scores": scores}))
""".replace("ROOT", repr(str(ROOT)))
"""
A run of three steps that continues where it was killed, and waits before the last one.
"""


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


COMMAND = ("-S", "-c", WORKER)
"""Without imports, so that it starts quickly."""


def until(holds: Callable[[], Any]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def execute(
    ray: Any, runs: list[Run], code: str = WORKER
) -> Generator[tuple[Run, str | None]]:
    """Executes runs by one worker of the cluster."""
    workers = RayWorkers(ray, slots=1, command=("-S", "-c", code))
    yield from execute_all(runs, workers, started=lambda run: None)


def is_held(folder: Path) -> bool:
    """Whether another process executes the run."""
    try:
        with exclusive(folder, wait=0):
            return False
    except Held:
        return True


def at_last_step(run: Run) -> bool:
    steps = run.folder / "steps"
    return steps.exists() and len(steps.read_text().split()) == 2


def test_closing_stops_what_runs(nodes: Any, tmp_path: Path) -> None:
    """A finished run keeps its result, and no process is left."""
    table = str(write_table(tmp_path, [row("baseline"), row("last", changes=LAST)]))
    first, second = Session(table, tmp_path).left
    waiting = WORKER.replace("step == 2", "step == 2 and '/last-' in sys.argv[1]")
    (tmp_path / "wait").touch()
    with connected(nodes.address) as ray:
        changes = execute(ray, [first, second], waiting)
        assert next(changes) == (first, None)
        until(lambda: at_last_step(second))
        changes.close()
        until(lambda: not is_held(second.folder))
    assert run_dir.is_finished(first.folder) and not run_dir.is_finished(second.folder)


def test_a_lost_node(nodes: Any, tmp_path: Path) -> None:
    """
    Its run resumes on another, the run that needs it waits, and the results equal the
    local ones to the byte.
    """
    sst = {"config": "sst", "metric": "accuracy"}
    ensemble = row("both", ensemble={"of": "baseline", "members": 2}, **sst)
    rows = [row("baseline", **sst), row("last", changes=LAST), ensemble]
    table = str(write_table(tmp_path, rows))
    here = tmp_path / "local"
    workers: Any = LocalWorkers(3, command=COMMAND)
    Session(table, here, seeds=2, workers=workers).run_all(print)
    folder = tmp_path / "ray"
    folder.mkdir()
    lines: list[str] = []
    with connected(nodes.address) as ray:
        workers = RayWorkers(ray, command=COMMAND)
        session = Session(table, folder, seeds=2, workers=workers)
        runs = list(session.left)
        (folder / "wait").touch()
        thread = Thread(target=session.run_all, args=[lines.append])
        thread.start()
        until(lambda: sum(map(at_last_step, runs)) == workers.slots == 3)
        nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
        until(lambda: sum(is_held(run.folder) for run in runs) == 2)
        (folder / "wait").unlink()
        thread.join(SECONDS)
    assert not session.left and not session.failed, lines
    names = []
    for run in runs:
        names.append(f"runs/{run.folder.name}/result.json")
        names.append(f"runs/{run.folder.name}/steps")
    for name in names:
        assert (folder / name).read_bytes() == (here / name).read_bytes(), name
