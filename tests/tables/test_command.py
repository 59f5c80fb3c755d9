"""`elmo-tasks ablate`: what it plans, skips, prints and writes, without training."""

import json
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest

from elmo_tasks.cli import ablate as command
from elmo_tasks.cli.ablate import dry_run
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import local, run_dir
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.experiments.tables.session import Session
from elmo_tasks.run_names import MODEL
from tests.tables.tables import LAST, finish, row, write_table
from tests.test_flow import elmo_tasks

Shown = Callable[..., str]


class FakeProcess:
    """A run that finishes at once, unless its row is in `failing` or `interrupting`."""

    started: list[str] = []
    failing: set[str] = set()
    interrupting: dict[str, type[BaseException]] = {}

    def __init__(self, run: Run, *_: object) -> None:
        run_dir.prepare_run_dir(run)
        self.run = run
        FakeProcess.started.append(run.label)

    def poll(self) -> int:
        if interrupt := self.interrupting.get(self.run.row.name):
            raise interrupt
        if self.run.row.name in self.failing:
            run_dir.write_failure(self.run.folder, "a.txt:1: no tag")
            return 1
        finish(self.run, f1=0.1 * self.run.seed, elmo_input_s0=1.0)
        return 0


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeProcess.started, FakeProcess.failing, FakeProcess.interrupting = [], set(), {}
    monkeypatch.setattr(local, "_start", FakeProcess)
    monkeypatch.setattr(local, "stop", lambda process: None)
    quickly = partial(local.run_all, poll_seconds=0.01)
    monkeypatch.setattr(local, "run_all", quickly)


@pytest.fixture
def ablate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shown:
    rows = [
        row("baseline", minutes=2, paper=90.15),
        row("last", changes=LAST, minutes=6),
    ]
    table = write_table(tmp_path, rows)

    def call(*arguments: object) -> str:
        elmo_tasks("ablate", table, "-s", tmp_path / "out", *arguments)
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("table.md", "# My table\n\n| a |\n"),
        ("results.jsonl", '{"row": "a", "seed": 1, "accuracy": 0.5}\n'),
        ("results.jsonl", "[1]\n"),
        ("report.html", "<!doctype html>\n<title>Mine</title>\n"),
    ],
)
def test_files_of_something_else_stay(
    name: str, content: str, ablate: Shown, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(content)
    with pytest.raises(InputError, match=f"out/{name}: expected no file of this name"):
        ablate()
    assert (tmp_path / "out" / name).read_text() == content
    assert FakeProcess.started == []


def test_files_of_a_table_are_replaced(ablate: Shown, tmp_path: Path) -> None:
    """By another call, also where all runs have failed."""
    FakeProcess.failing = {"baseline", "last"}
    with pytest.raises(SystemExit):
        ablate()
    FakeProcess.failing = set()
    ablate()
    assert '"hash"' in (tmp_path / "out" / "results.jsonl").read_text()


def test_dry_run(ablate: Shown, tmp_path: Path) -> None:
    shown = ablate("--dry-run", "--seeds", "3", "--workers", "2")
    assert "last: ner_elmo.jsonnet; 3 to run\n" in shown
    assert '    model.elmo.mix: "weighted" -> "last"' in shown
    assert "6 runs, 2 at a time: 12 min" in shown
    assert FakeProcess.started == [] and not (tmp_path / "out").exists()
    rows = [row("last", changes=LAST), row("again", changes=LAST)]
    rows += [row("lacking", config="snli", needs=[str(tmp_path / "none")])]
    rows += [row("of", config="snli", ensemble={"of": "lacking", "members": 2})]
    planned = dry_run(Session(str(write_table(tmp_path, rows)), tmp_path / "out"))
    assert (
        "again: ner_elmo.jsonnet; 1 to run" in planned
        and "of: missing, as files that lacking needs" in planned
    )


def test_output_and_files(ablate: Shown, tmp_path: Path) -> None:
    shown = ablate("--seeds", "2", "--figures", tmp_path / "figures")
    assert (tmp_path / "figures" / "figure2.png").is_file()
    assert "started: last, seed 1" in shown
    assert "[3/4] last, seed 1: f1 10.0, 60 s\n" in shown
    assert "ours   15.0 ± 7.1 (n=2)  15.0 ± 7.1 (n=2)" in shown
    out = tmp_path / "out"
    assert shown.rstrip().endswith(str(out / "report.html"))
    records = [
        json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()
    ]
    assert [record["row"] + str(record["seed"]) for record in records] == [
        "baseline1",
        "baseline2",
        "last1",
        "last2",
    ]
    assert "15.0 ± 7.1 (n=2)" in (out / "table.md").read_text()
    reproduced = f"elmo-tasks ablate {tmp_path}/table.jsonnet --scale mini -s {out} --seeds 2</dd>"
    assert reproduced in (out / "report.html").read_text()


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_epochs_and_time_left_on_a_terminal(
    ablate: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two runs of 30 epochs ends when its first epoch is shown."""
    terminal, end = Terminal(), time.monotonic() + 30
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(command, "SECONDS_BETWEEN_UPDATES", 0.01)

    def poll(self: FakeProcess) -> int | None:
        model = self.run.folder / MODEL
        model.mkdir(exist_ok=True)
        (model / "metrics_epoch_0.json").touch()
        epochs = 30 * len(FakeProcess.started) - 29
        if not re.search(
            rf" {epochs} of 60 epochs, \d\d:\d\d left", terminal.getvalue()
        ):
            assert time.monotonic() < end, terminal.getvalue()[-200:]
            return None
        finish(self.run, f1=0.5)
        return 0

    monkeypatch.setattr(FakeProcess, "poll", poll)
    assert "started: baseline, seed 1\n" in ablate()


def test_finished_runs_are_skipped(ablate: Shown) -> None:
    ablate("--rows", "last")
    assert FakeProcess.started == ["last, seed 1"]
    shown = ablate("--seeds", "2")
    assert FakeProcess.started[1:] == [
        "baseline, seed 1",
        "baseline, seed 2",
        "last, seed 2",
    ]
    assert "4 runs, 1 finished" in shown
    ablate("--seeds", "1")
    assert len(FakeProcess.started) == 4


def test_a_failed_run_is_retried(
    ablate: Shown, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FakeProcess.failing = {"baseline"}
    with pytest.raises(SystemExit) as stopped:
        ablate()
    assert stopped.value.code == 1
    shown = capsys.readouterr().out
    assert "[1/2] baseline, seed 1: FAILED: a.txt:1: no tag\n" in shown
    assert "failed" in shown and "10.0 (n=1)" in shown
    assert (
        '"failed": "a.txt:1: no tag"'
        in (tmp_path / "out" / "results.jsonl").read_text()
    )
    FakeProcess.failing = set()
    ablate()
    assert FakeProcess.started[2:] == ["baseline, seed 1"]
    assert "failed" not in (tmp_path / "out" / "results.jsonl").read_text()


def test_a_misspelt_metric_is_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        elmo_tasks(
            "ablate",
            write_table(tmp_path, [row("baseline", metric="f7")]),
            "-s",
            tmp_path / "out",
        )
    assert stopped.value.code == 1
    assert (
        "baseline, seed 1: FAILED: no score 'f7', but elmo_input_s0, f1\n"
        in capsys.readouterr().out
    )


def test_interrupt(
    ablate: Shown, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FakeProcess.interrupting = {"last": KeyboardInterrupt}
    with pytest.raises(SystemExit) as stopped:
        ablate()
    assert stopped.value.code == 130
    assert "interrupted; the same command resumes" in capsys.readouterr().out
    assert "10.0 (n=1)" in (tmp_path / "out" / "table.md").read_text()
    FakeProcess.interrupting = {}
    ablate()
    assert FakeProcess.started[2:] == ["last, seed 1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "nobody"], "no row matches 'nobody'"),
        (["--figures", __file__], "test_command.py"),
        (["--address", "head:6379"], "--executor ray"),
    ],
)
def test_invalid_arguments(arguments: list[str], message: str, ablate: Shown) -> None:
    with pytest.raises(InputError, match=message):
        ablate(*arguments)
    assert FakeProcess.started == []


def test_the_folder_is_checked_before_the_runs(ablate: Shown, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match=r"out.*: cannot write"):
        ablate("--runs", tmp_path / "runs")
    assert FakeProcess.started == []


def test_join(ablate: Shown, tmp_path: Path) -> None:
    """A call that leaves a run to another ends without an error, and the last call writes the whole table."""
    table = str(tmp_path / "table.jsonnet")
    held = Session(table, tmp_path / "out", rows=["last"])
    (run,) = held.left
    run_dir.prepare_run_dir(run)
    with run_dir.lock(run.folder):
        shown = ablate("--join")
    assert FakeProcess.started == ["baseline, seed 1"]
    assert "other processes execute the runs that are left: 1\n" in shown
    with run_dir.lock_to_write(tmp_path / "out"):
        writing = Thread(target=held.write)
        writing.start()
        writing.join(0.2)
        finish(run, f1=0.3)
    writing.join()
    assert "30.0 (n=1)" in (tmp_path / "out" / "table.md").read_text()


def test_a_locked_run_has_not_failed(tmp_path: Path) -> None:
    (tmp_path / run_dir.PLAN).write_text("{}")
    with run_dir.lock(tmp_path), pytest.raises(SystemExit) as stopped:
        elmo_tasks("ablate-run", tmp_path)
    assert stopped.value.code == local.HELD
    assert not (tmp_path / run_dir.FAILURE).exists()
