"""The order in which runs begin, what happens to those that fail, and what an interrupt leaves."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from elmo_tasks.ablation import folder as folders
from elmo_tasks.ablation import local
from elmo_tasks.ablation.execute import execute
from elmo_tasks.ablation.local import RunFinished, RunStarted
from elmo_tasks.ablation.runs import Run, digest_of
from elmo_tasks.ablation.table import Cell, Row
from elmo_tasks.errors import InputError
from tests.ablation.tables import finish


def run(folder: Path, name: str, after: list[Run] | None = None) -> Run:
    members = [other.digest for other in after or []]
    plan = {"config": {"name": name}, "bilm_of": None, "ensemble": {"members": members} if members else None}
    row = Row(name=name, configs=(Path("x.jsonnet"),), line="x", cells=(Cell("x", "f1"),))
    return Run(row, 1, plan, folder / f"{name}-{digest_of(plan)}")


class FakeJob:
    """Ends after so many looks at it, with a result unless its code says that it failed."""

    def __init__(self, run: Run, *, looks: int = 1, code: int = 0, log: str = "") -> None:
        self.run, self.looks, self.code, self.stopped = run, looks, code, False
        folders.prepare_run_dir(run)
        (run.folder / folders.LOG).write_text(log)

    def poll(self) -> int | None:
        self.looks -= 1
        if self.looks > 0:
            return None
        if self.code == 0:
            finish(self.run, f1=0.5)
        return self.code

    def stop(self) -> None:
        self.stopped = True


def told(runs: list[Run], jobs: dict[str, dict[str, object]], *, workers: int) -> list[str]:
    """What `run_all` tells of runs whose jobs have these keys."""

    def launch(run: Run, place: int) -> FakeJob:
        return FakeJob(run, **jobs.get(run.row.name, {}))  # type: ignore[arg-type]

    lines = []
    for event in local.run_all(runs, workers=workers, launch=launch, pause=0.0):
        name = event.run.row.name
        lines.append(
            f"+{name}" if isinstance(event, RunStarted) else f"-{name}" + (f": {event.reason}" if event.reason else "")
        )
    return lines


def test_one_after_the_other(tmp_path: Path) -> None:
    assert told([run(tmp_path, "a"), run(tmp_path, "b")], {}, workers=1) == ["+a", "-a", "+b", "-b"]


def test_two_at_a_time_and_the_next_when_one_ends(tmp_path: Path) -> None:
    runs = [run(tmp_path, name) for name in "abc"]
    assert told(runs, {"a": {"looks": 5}}, workers=2) == ["+a", "+b", "-b", "+c", "-c", "-a"]


def test_a_run_waits_for_those_that_it_builds_on(tmp_path: Path) -> None:
    first = run(tmp_path, "first")
    runs = [run(tmp_path, "ensemble", [first]), first, run(tmp_path, "other")]
    assert told(runs, {"first": {"looks": 3}}, workers=2) == [
        "+first",
        "+other",
        "-other",
        "-first",
        "+ensemble",
        "-ensemble",
    ]


def test_a_failed_run_stops_only_those_that_build_on_it(tmp_path: Path) -> None:
    first = run(tmp_path, "first")
    second = run(tmp_path, "second", [first])
    runs = [first, second, run(tmp_path, "third", [second]), run(tmp_path, "other")]
    log = "some words\nValueError: no such layer\n  0%| |\nbye\n"
    lines = told(runs, {"first": {"code": 1, "log": log}}, workers=1)
    why = "it builds on a run that failed"
    assert lines == [
        "+first",
        "-first: ValueError: no such layer",
        f"-second: {why}",
        f"-third: {why}",
        "+other",
        "-other",
    ]
    failure = folders.read_json(first.folder / folders.FAILURE)
    assert failure is not None and failure["reason"] == "ValueError: no such layer"


@pytest.mark.parametrize(
    ("code", "log", "reason"),
    [
        (1, "error: a.txt:3: no tag\n", "a.txt:3: no tag"),
        (1, "torch.OutOfMemoryError: CUDA\nmore\n", "torch.OutOfMemoryError: CUDA"),
        (1, "error: two problems:\n  a: no\n  b: no\nmore\n", "two problems: a: no; b: no"),
        (1, "a last word\n\n", "a last word"),
        (1, "", "exit code 1, and no word"),
        (0, "all well\n", "all well"),
        (-9, "all well\n", "killed, perhaps for want of memory (log: "),
        (-15, "all well\n", "ended by signal 15 (log: "),
    ],
)
def test_the_reason_of_a_failure(code: int, log: str, reason: str, tmp_path: Path) -> None:
    job = FakeJob(run(tmp_path, "a"), code=code, log=log)
    found = local.conclude(job.run, code)
    assert found is not None and found.startswith(reason)


def test_a_run_at_which_another_process_is_has_not_failed(tmp_path: Path) -> None:
    job = FakeJob(run(tmp_path, "a"), code=1, log="error: another process is at this run\n")
    assert local.conclude(job.run, folders.BUSY) == "another process is at this run"
    assert not (job.run.folder / folders.FAILURE).exists()


@pytest.mark.parametrize(
    "change",
    [
        *({key: None} for key in ("seconds", "scores", "curve", "peak_memory", "epochs", "hash")),
        {"scores": {"f1": "x"}},
        {"curve": [{"f1": 0.3}]},
        {"hash": "0" * 12},
    ],
)
def test_a_result_that_is_not_whole_or_of_another_run_is_none(change: dict[str, object], tmp_path: Path) -> None:
    one = run(tmp_path, "a")
    finish(one, f1=0.5, curve=[0.5])
    whole = folders.read_result(one.folder)
    assert whole is not None and folders.is_finished(one.folder)
    folders.write_json(one.folder / folders.RESULT, whole | change)
    assert not folders.is_finished(one.folder)


def test_an_attempt_that_is_not_whole_counts_nothing(tmp_path: Path) -> None:
    folders.write_json(tmp_path / folders.ATTEMPT, {"before": 3.0})
    assert folders.seconds_before(tmp_path) == 0.0


def test_laying_out_again_forgets_the_failure(tmp_path: Path) -> None:
    job = FakeJob(run(tmp_path, "a"), code=1)
    local.conclude(job.run, 1)
    folders.prepare_run_dir(job.run)
    assert not (job.run.folder / folders.FAILURE).exists()


def test_whoever_stops_listening_ends_what_goes_on(tmp_path: Path) -> None:
    jobs: list[FakeJob] = []

    def launch(run: Run, place: int) -> FakeJob:
        jobs.append(FakeJob(run, looks=10**6))
        return jobs[-1]

    runs = [run(tmp_path, name) for name in "abc"]
    events = local.run_all(runs, workers=2, launch=launch, pause=0.0)
    assert [type(next(events)) for _ in range(2)] == [RunStarted, RunStarted]
    events.close()
    assert [job.stopped for job in jobs] == [True, True]


def test_cores_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local.os, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert local.environment(0, workers=2)["OMP_NUM_THREADS"] == "4"
    assert local.environment(0, workers=20)["OMP_NUM_THREADS"] == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert local.environment(0, workers=2)["OMP_NUM_THREADS"] == "3"


def test_gpus_are_dealt_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(local.torch.cuda, "device_count", lambda: 2)
    assert [local.environment(place, workers=3)["CUDA_VISIBLE_DEVICES"] for place in range(3)] == ["0", "1", "0"]
    assert "CUDA_VISIBLE_DEVICES" not in local.environment(0, workers=1)


def test_a_real_process_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    monkeypatch.setattr(local, "command", lambda folder: [sys.executable, "-c", code])
    events = local.run_all([run(tmp_path, "a")], workers=1)
    begun = next(events)
    log = begun.run.folder / folders.LOG
    while not log.read_text():
        time.sleep(0.05)
    events.close()
    assert not _alive(int(log.read_text()))


def _alive(process: int) -> bool:
    """Whether it runs, a moment after it was ended."""
    for _ in range(40):
        state = Path(f"/proc/{process}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return False
        time.sleep(0.05)
    return True


def test_a_run_ends_with_its_parent(tmp_path: Path) -> None:
    worker = (
        "import sys, time; from elmo_tasks.ablation import watch; watch.PAUSE = 0.05;"
        " watch.exit_with_parent(int(sys.argv[1])); print('up', flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", _PARENT, worker], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.stdout.readline()
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert not _alive(child)


_PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], str(os.getpid())], stdout=subprocess.PIPE, text=True)
print(child.pid, child.stdout.readline(), sep="\\n", flush=True)
child.wait()
"""


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        folders.held(tmp_path, wait=0.1),
        pytest.raises(InputError, match="another process is at this run"),
        folders.held(tmp_path, wait=0.1),
    ):
        pass
    with folders.held(tmp_path, wait=0.1):
        pass


def test_a_folder_without_a_plan_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no plan.json \(`allennlp ablate` lays runs out\)"):
        execute(tmp_path)


def test_outcomes_tell_seconds(tmp_path: Path) -> None:
    events = list(local.run_all([run(tmp_path, "a")], workers=1, launch=lambda run, _: FakeJob(run), pause=0.0))
    assert isinstance(events[1], RunFinished) and 0 <= events[1].seconds < 5


def test_time_of_broken_attempts_counts_up_to_their_last_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / folders.ATTEMPT
    folders.write_json(file, {"before": 100.0, "began": time.time() - 50})
    os.utime(file, (time.time() - 20, time.time() - 20))
    assert folders.seconds_before(tmp_path) == pytest.approx(130.0, abs=2.0)
    monkeypatch.setattr(folders, "BEAT", 0.01)
    with folders.attempt(tmp_path):
        os.utime(file, (0, 0))
        while not file.stat().st_mtime:
            time.sleep(0.01)
    assert folders.seconds_before(tmp_path) == pytest.approx(130.0, abs=2.0)


def test_only_a_checkpoint_of_this_config_is_gone_on_from(tmp_path: Path) -> None:
    model = tmp_path / folders.MODEL
    config = {"model": {"type": "x"}}

    def made(written: dict[str, object], *files: str) -> None:
        model.mkdir(exist_ok=True)
        folders.write_json(model / "config.json", written)
        for file in files:
            (model / file).touch()

    states = ("model_state_e1_b0.th", "training_state_e1_b0.th")
    made(config, *states)
    assert folders.can_go_on(tmp_path, config) and (model / states[0]).exists()
    made(config | {"random_seed": 2}, *states)
    assert not folders.can_go_on(tmp_path, config) and not model.exists()
    made(config, states[0])
    assert not folders.can_go_on(tmp_path, config) and not model.exists()
