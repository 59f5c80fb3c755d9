"""`allennlp ablate`: what it plans, skips, tells and writes; runs pretend to be carried out."""

import html
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from allennlp.common.util import SigTermReceived

from elmo_tasks import settings
from elmo_tasks.ablation import folder as folders
from elmo_tasks.ablation import local
from elmo_tasks.ablation.progress import Estimates
from elmo_tasks.ablation.runs import Run
from elmo_tasks.errors import InputError
from tests.ablation.tables import LAST, finish, planner, row, write_table
from tests.test_flow import allennlp

Shown = Callable[..., str]


class FakeProcess:
    """A run that is carried out at once; `failing` and `interrupting` rows are not."""

    started: list[str] = []
    failing: set[str] = set()
    interrupting: dict[str, type[BaseException]] = {}

    def __init__(self, run: Run, place: int, *, workers: int) -> None:
        folders.prepare_run_dir(run)
        self.run = run
        FakeProcess.started.append(run.label)

    def poll(self) -> int:
        if interrupt := self.interrupting.get(self.run.row.name):
            raise interrupt
        if self.run.row.name in self.failing:
            (self.run.folder / folders.LOG).write_text("error: a.txt:1: no tag\n")
            return 1
        finish(self.run, f1=0.1 * self.run.seed, curve=[0.1])
        return 0

    def stop(self) -> None:
        pass


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (settings.SCALE_VARIABLE, settings.DATA_VARIABLE, settings.FIXTURES_VARIABLE):
        monkeypatch.setenv(name, "")
    settings.apply_defaults()
    FakeProcess.started, FakeProcess.failing, FakeProcess.interrupting = [], set(), {}
    monkeypatch.setattr(local, "Process", FakeProcess)
    monkeypatch.setattr(local, "PAUSE", 0.0)


@pytest.fixture
def ablate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Shown:
    rows = [row("baseline", minutes=2, paper=90.15), row("last", changes=LAST, minutes=6)]
    table = write_table(tmp_path, rows)

    def call(*arguments: object) -> str:
        allennlp("ablate", table, "-s", tmp_path / "out", *arguments)
        return capsys.readouterr().out

    return call


def test_a_dry_run_shows_changes_and_cost_and_runs_nothing(ablate: Shown, tmp_path: Path) -> None:
    shown = ablate("--dry-run", "--seeds", "3", "--workers", "2")
    assert "last: ner_elmo.jsonnet; 3 to run, each 6 min" in shown
    assert '    model.elmo.mix: "weighted" -> "last"' in shown
    assert "6 runs, 2 at a time: 12 min" in shown
    assert FakeProcess.started == [] and not (tmp_path / "out").exists()


def test_it_tells_of_each_run_and_writes_three_files(ablate: Shown, tmp_path: Path) -> None:
    shown = ablate("--seeds", "2")
    assert "begins: last, seed 1" in shown
    assert "[3/4] last, seed 1: f1 10.0, 60 s;" in shown
    assert "ours   15.0 ± 7.1 (n=2)  15.0 ± 7.1 (n=2)" in shown
    out = tmp_path / "out"
    assert shown.rstrip().endswith(str(out / "report.html"))
    records = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert [(record["row"], record["seed"]) for record in records] == [
        ("baseline", 1),
        ("baseline", 2),
        ("last", 1),
        ("last", 2),
    ]
    assert "15.0 ± 7.1 (n=2)" in (out / "table.md").read_text()
    page = (out / "report.html").read_text()
    assert "15.0 ± 7.1 (n=2)" in page and page.count("<td>60 s</td>") == 4
    command = f"ELMO_TASKS_SCALE=mini allennlp ablate {tmp_path}/table.jsonnet -s {out} --seeds 2</code>"
    assert command in page


def test_the_page_has_the_command_for_all_its_runs(
    ablate: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.DATA_VARIABLE, str(tmp_path / "my data"))
    monkeypatch.setenv(settings.DEFAULT_VARIABLE, "")
    ablate("--seeds", "2", "--no-cache")
    ablate("--rows", "last", "--no-cache")
    page = html.unescape((tmp_path / "out" / "report.html").read_text())
    assert f"<code>ELMO_TASKS_SCALE=mini ELMO_TASKS_DATA='{tmp_path}/my data' allennlp ablate " in page
    assert " --seeds 2 --no-cache</code>" in page


def test_what_is_finished_is_not_run_again(ablate: Shown) -> None:
    ablate("--rows", "last")
    assert FakeProcess.started == ["last, seed 1"]
    shown = ablate("--seeds", "2")
    assert FakeProcess.started[1:] == ["baseline, seed 1", "baseline, seed 2", "last, seed 2"]
    assert "4 runs, 1 finished before" in shown
    ablate("--seeds", "1")
    assert len(FakeProcess.started) == 4


def test_a_failed_run_does_not_stop_the_others_and_is_tried_again(
    ablate: Shown, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FakeProcess.failing = {"baseline"}
    with pytest.raises(SystemExit) as stopped:
        ablate()
    assert stopped.value.code == 1
    shown = capsys.readouterr().out
    assert "[1/2] baseline, seed 1: FAILED: a.txt:1: no tag;" in shown
    assert "failed" in shown and "10.0 (n=1)" in shown
    assert '"failed": "a.txt:1: no tag"' in (tmp_path / "out" / "results.jsonl").read_text()
    FakeProcess.failing = set()
    ablate()
    assert FakeProcess.started[2:] == ["baseline, seed 1"]
    assert "failed" not in (tmp_path / "out" / "results.jsonl").read_text()


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SigTermReceived])
def test_an_interrupt_leaves_what_is_finished(
    ablate: Shown, tmp_path: Path, capsys: pytest.CaptureFixture[str], interrupt: type[BaseException]
) -> None:
    """Control-C, or `kill`."""
    FakeProcess.interrupting = {"last": interrupt}
    with pytest.raises(SystemExit) as stopped:
        ablate()
    assert stopped.value.code == 130
    assert "interrupted; the same command goes on from here" in capsys.readouterr().out
    assert "10.0 (n=1)" in (tmp_path / "out" / "table.md").read_text()
    FakeProcess.interrupting = {}
    ablate()
    assert FakeProcess.started[2:] == ["last, seed 1"]


def test_estimates_follow_what_runs_took(ablate: Shown, tmp_path: Path) -> None:
    ablate("--rows", "baseline")
    shown = ablate("--dry-run", "--rows", "last")
    # A run of the baseline was thought to take two minutes and took one.
    assert "each 3 min" in shown


def test_finished_seeds_of_a_row_give_an_estimate_while_another_row_is_not_known(tmp_path: Path) -> None:
    planned = planner(tmp_path, [row("baseline"), row("last", changes=LAST)])
    (first, *others), estimates = planned.runs(planned.table.rows, [1, 2]), Estimates(planned)
    assert estimates.left([first, *others], workers=1) == "not known"
    estimates.measured(first, 600.0)
    assert estimates.left(others, workers=1) == "more than 10 min"
    estimates.measured(others[1], 60.0)
    assert estimates.left([others[0], others[2]], workers=1) == "11 min"
    assert estimates.left([others[0], others[2]], workers=2) == "10 min"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "nobody"], "no row matches 'nobody'"),
        (["--seeds", "0"], "seeds must be a whole number of at least 1, found 0"),
        (["--workers", "-1"], "workers must be a whole number of at least 1, found -1"),
    ],
)
def test_a_mistake_is_one_error_and_nothing_is_written(
    arguments: list[str], message: str, ablate: Shown, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        ablate(*arguments)
    assert not (tmp_path / "out").exists()


def test_without_ray_the_executor_is_one_error(ablate: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"the executor ray needs Ray \(pip install 'elmo-tasks\[ray\]'\)"):
        ablate("--executor", "ray")


def test_what_cannot_be_written_is_told_before_anything_runs(ablate: Shown, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match=r"out.*: cannot write"):
        ablate("--runs", tmp_path / "runs")
    assert FakeProcess.started == []


def test_an_interrupt_while_planning(
    ablate: Shown, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: object) -> None:
        raise SigTermReceived

    monkeypatch.setattr("elmo_tasks.ablation.session.read_table", interrupted)
    with pytest.raises(SystemExit) as stopped:
        ablate("--dry-run")
    assert stopped.value.code == 130
    assert "interrupted before anything was begun" in capsys.readouterr().out


def test_a_run_at_which_another_process_is_has_an_exit_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("elmo_tasks.ablation.folder.WAIT", 0.0)
    (tmp_path / folders.PLAN).write_text("{}")
    with folders.held(tmp_path, wait=0.0), pytest.raises(SystemExit) as stopped:
        allennlp("ablate-run", tmp_path)
    assert stopped.value.code == folders.BUSY
    assert "another process is at this run" in capsys.readouterr().err
