"""`elmo-tasks ablate`: what it plans, skips, prints and writes, without training."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.cli.running import table_runs as command
from elmo_tasks.cli.running.table_runs import dry_run
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.session import Session
from tests.tables.tables import LAST, row, write_result, write_table
from tests.test_flow import elmo_tasks

Shown = Callable[..., str]


class Untrained(LocalWorkers):
    """
    Writes the results of runs without training, unless their rows are in `failing` or
    `interrupting`.
    """

    started: list[str] = []
    failing: set[str] = set()
    interrupting: set[str] = set()

    def execute(self, folder: Path) -> int:
        plan = run_dir.read_json(folder / run_dir.RESULT) or {}
        Untrained.started.append(f"{plan['row']}, seed {plan['seed']}")
        if plan["row"] in self.interrupting:
            os.kill(os.getpid(), signal.SIGINT)
            while not self._is_closed:
                time.sleep(0.01)
            return 1
        if plan["row"] in self.failing:
            (folder / run_dir.LOG).write_text("error: a.txt:1: no tag\n")
            return 1
        write_result(folder, plan, f1=0.1 * plan["seed"], elmo_input_s0=1.0)
        return 0


def status_of(command: Callable[..., object], *arguments: object) -> object:
    """The exit status with which a command ends."""
    with pytest.raises(SystemExit) as stopped:
        command(*arguments)
    return stopped.value.code


@pytest.fixture(autouse=True)
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    Untrained.started = []
    Untrained.failing = set()
    Untrained.interrupting = set()
    monkeypatch.setattr(command, "LocalWorkers", Untrained)


@pytest.fixture
def ablate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shown:
    rows = [row("baseline", paper=90.15), row("last", changes=LAST)]
    table = write_table(tmp_path, rows)

    def call(*arguments: object) -> str:
        elmo_tasks("ablate", table, "-s", tmp_path / "out", *arguments)
        return capsys.readouterr().out

    return call


def test_dry_run(ablate: Shown, tmp_path: Path) -> None:
    shown = ablate("--dry-run", "--seeds", "3", "--workers", "2")
    assert "last: ner_elmo.jsonnet; 3 to run\n" in shown
    assert '    model.elmo.mix: "weighted" -> "last"' in shown
    assert shown.endswith("6 runs, 2 at a time\n")
    assert Untrained.started == [] and not (tmp_path / "out").exists()
    rows = [row("last", changes=LAST), row("again", changes=LAST)]
    rows += [row("lacking", config="snli", needs=[str(tmp_path / "none")])]
    rows += [row("of", config="snli", ensemble={"of": "lacking", "members": 2})]
    planned = dry_run(Session(str(write_table(tmp_path, rows)), tmp_path / "out"))
    assert "again: ner_elmo.jsonnet; 1 to run" in planned
    assert f"of: missing, needs {tmp_path / 'none'}" in planned


def test_output_and_files(ablate: Shown, tmp_path: Path) -> None:
    shown = ablate("--seeds", "2", "--figures", tmp_path / "figures")
    assert "started: last, seed 1" in shown
    assert "[3/4] last, seed 1: f1 10.0, 60 s\n" in shown
    assert "| ours  | 15.0 ± 7.1 (n=2) | 15.0 ± 7.1 (n=2) |" in shown
    out = tmp_path / "out"
    assert str(out / "table.md") in shown
    assert (tmp_path / "figures/scores.png").read_bytes().startswith(b"\x89PNG")
    records = [
        json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()
    ]
    assert [record["row"] + str(record["seed"]) for record in records] == [
        "baseline1",
        "baseline2",
        "last1",
        "last2",
    ]
    assert (out / "table.md").read_text() in shown


def test_finished_runs_are_skipped(ablate: Shown) -> None:
    """A row that was not chosen is in the table if it has results."""
    shown = ablate("--rows", "last")
    assert Untrained.started == ["last, seed 1"]
    assert "missing" not in shown and "baseline" not in shown
    shown = ablate("--seeds", "2")
    assert Untrained.started[1:] == [
        "baseline, seed 1",
        "baseline, seed 2",
        "last, seed 2",
    ]
    assert "4 runs, 1 finished" in shown
    ablate("--seeds", "1")
    assert len(Untrained.started) == 4


def test_a_failed_run_is_retried(
    ablate: Shown, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Untrained.failing = {"baseline"}
    assert status_of(ablate) == 1
    shown = capsys.readouterr().out
    assert "[1/2] baseline, seed 1: FAILED: a.txt:1: no tag\n" in shown
    assert "failed" in shown and "10.0 (n=1)" in shown
    rows = tmp_path / "out" / "results.jsonl"
    assert '"failed": "a.txt:1: no tag"' in rows.read_text()
    Untrained.failing = set()
    ablate()
    assert Untrained.started[2:] == ["baseline, seed 1"]
    assert "failed" not in rows.read_text()


def test_a_score_that_no_run_has_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the data decide which labels have one."""
    table = write_table(tmp_path, [row("baseline", metric="f1-X")])
    assert status_of(elmo_tasks, "ablate", table, "-s", tmp_path / "out") == 1
    assert (
        "baseline, seed 1: FAILED: no score 'f1-X' among elmo_input_s0, f1\n"
        in capsys.readouterr().out
    )


def test_interrupt(
    ablate: Shown, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job's is ignored
    Untrained.interrupting = {"last"}
    assert status_of(ablate) == 130
    assert "interrupted; the same command resumes" in capsys.readouterr().out
    assert "10.0 (n=1)" in (tmp_path / "out" / "table.md").read_text()
    Untrained.interrupting = set()
    ablate()
    assert Untrained.started[2:] == ["last, seed 1"]


def test_a_pattern_without_a_row(ablate: Shown) -> None:
    with pytest.raises(InputError, match="no row matches 'nobody'"):
        ablate("--rows", "nobody")
    assert Untrained.started == []


def test_the_folder_is_checked_before_the_runs(ablate: Shown, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match=r"out.*: cannot write"):
        ablate("--runs", tmp_path / "runs")
    assert Untrained.started == []
