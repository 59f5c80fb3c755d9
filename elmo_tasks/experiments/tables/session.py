"""
One call of `elmo-tasks ablate`: plan the runs, execute those that are left, write the
results.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from elmo_tasks import resources
from elmo_tasks.errors import InputError, without_secrets
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.process import COMMAND, Workers
from elmo_tasks.experiments.tables.report import report
from elmo_tasks.experiments.tables.results import Record, Summary, no_score
from elmo_tasks.experiments.tables.runs import Planner
from elmo_tasks.experiments.tables.schedule import ScheduledRun, Scheduler, State
from elmo_tasks.experiments.tables.table import PASSES, choose_rows, read_table
from elmo_tasks.experiments.tables.text import duration, markdown, run_scores
from elmo_tasks.settings import Size, checked
from elmo_tasks.system.files import atomic_write, exclusive
from elmo_tasks.training.nested import strings


class Session:
    """
    The runs of the rows that match one of the patterns `rows`, with the seeds 1 to
    `seeds`. `table.md`, `results.jsonl` and `report.html` are written to `folder`, the
    runs to `runs` (default: `folder / "runs"`). `workers` (default: a process of this
    machine) execute the runs, which import `packages`; for `join` and `command` see
    `Scheduler`. Raises `InputError` if the table is invalid, a pattern matches nothing,
    a number is below 1, or the folder has other files of these names.
    """

    @checked
    def __init__(
        self,
        table: str,
        folder: Path,
        *,
        scale: str = resources.SCALES[0],
        runs: Path | None = None,
        rows: list[str] | None = None,
        seeds: Size = 1,
        workers: Workers | None = None,
        join: bool = False,
        cached: bool = True,
        packages: Sequence[str] = (),
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self.folder = folder.absolute()
        self.seeds = seeds
        self.workers = LocalWorkers(1) if workers is None else workers
        self._join = join
        self._command = command
        self._arguments = [table, "--scale", scale, "-s", str(folder)]
        if not cached:
            self._arguments.append("--no-cache")
        for package in packages:
            self._arguments += ["--include-package", package]
        self.table = read_table(table, scale)
        is_mini = scale == resources.SCALES[0]
        self._data_root = None if is_mini else resources.data_root()
        _require_own(self.folder)
        home = (runs or self.folder / "runs").absolute()
        self.planner = Planner(self.table, home, cached=cached, packages=packages)
        self.rows = choose_rows(self.table, rows or [])
        self._all = self.planner.runs(self.rows, seeds)
        self.left = [
            run for run in self._all if run_dir.read_result(run.folder) is None
        ]
        self.interrupted = False
        self.failed = 0
        self._scheduled: list[ScheduledRun] = []

    def run_all(self) -> Iterator[str]:
        """
        Execute the runs that are left, and yield a line for each start and end. Writes
        the files after each run.
        """
        done = len(self._all) - len(self.left)
        yield f"scale {self.table.scale}: {self._data()}; the paper's configs: {resources.configs_root() / 'paper'}"
        yield f"{self.table.title}: {len(self._all)} runs, {done} finished; estimated time left: {self.time_left()}"
        self.check()
        if self.left:
            self.write()  # fails now, not after the first run, if it cannot write
        self.interrupted = True
        scheduler = Scheduler(
            self.left, self.workers, join=self._join, command=self._command
        )
        self._scheduled = scheduler.runs
        for one in scheduler.changes():
            if one.state is State.RUNNING:
                yield f"started: {one.run.label}"
            elif one.state is State.HELD:
                yield f"executed by another process: {one.run.label}"
            else:
                self.left.remove(one.run)
                yield self._ended(one)
                self.write()
        self.interrupted = False
        if self.left:
            yield f"other processes execute the runs that are left: {len(self.left)}"

    def _data(self) -> str:
        """The folder of the scale's data, or the files that the rows train on."""
        root = self._data_root or resources.fixtures_root() / "miniworld"
        files: dict[str, None] = {}
        for row in self.rows:
            config = self.planner.resolved.get(row.name, {})
            for _, file in strings("", config.get("train_data_path")):
                files[file] = None
        for file in files:
            if not Path(file).absolute().is_relative_to(root):
                return f"training on {', '.join(files)}"
        return f"data in {root}"

    def check(self) -> None:
        """Raises `InputError` if the config of a row that is left is invalid."""
        self.planner.check([run.row for run in self.left])

    def time_left(self) -> str:
        """
        The rows' `minutes` of the runs that are left: `12 min`; `unknown` if a row has
        none.
        """
        seconds = []
        for run in self.left:
            if run.row.minutes is None:
                return duration(None)
            seconds.append(60 * run.row.minutes)
        longest = max(seconds, default=0.0)
        return duration(max(longest, sum(seconds) / self.workers.slots))

    def epochs_left(self) -> int:
        """How many epochs the runs that are left train at most."""
        done = run_dir.epochs_done(self.planner.home)
        total = 0
        for run in list(self.left):  # which another thread shortens
            total += max(0, run.epochs - done[run.digest])
        return total

    def running(self) -> list[str]:
        """
        The runs that workers of this call execute: `ner, seed 1 (3 of 20 epochs)`.
        """
        done = run_dir.epochs_done(self.planner.home)
        found = []
        for one in self._scheduled:
            if one.state is not State.RUNNING:
                continue
            text = one.run.label
            if one.run.epochs:
                text += f" ({done[one.run.digest]} of {one.run.epochs} epochs)"
            found.append(text)
        return found

    def write(self) -> Summary:
        """
        Write the three files from the results so far. Raises `InputError` if they
        cannot be written.
        """
        # The last of several calls has read all results.
        with exclusive(self.folder, wait=run_dir.SHARED):
            summary = Summary(self.planner, seeds=self.seeds)
            texts = {
                "results.jsonl": _json_lines(summary.all_records()),
                "table.md": markdown(summary),
                "report.html": report(summary, self._shell_command(summary)),
            }
            for name, text in texts.items():
                with atomic_write(self.folder / name) as aside:
                    # Names of files may be no UTF-8.
                    aside.write_text(without_secrets(text), "utf-8", "backslashreplace")
        return summary

    def _shell_command(self, summary: Summary) -> str:
        """The shell command that makes the same table."""
        seeds = self.seeds
        for records in summary.records.values():
            seeds = max([seeds, *records])
        call = ["elmo-tasks", "ablate"] + self._arguments + ["--seeds", str(seeds)]
        command = shlex.join(call)
        if self._data_root is None:
            return command
        root = shlex.quote(str(self._data_root))
        return f"{resources.DATA_VARIABLE}={root} {command}"

    def _ended(self, one: ScheduledRun) -> str:
        row = one.run.row
        ended = len(self._all) - len(self.left)
        line = f"[{ended}/{len(self._all)}] {one.run.label}: "
        result = run_dir.read_result(one.run.folder)
        if result is None:
            self.failed += 1
            return line + f"FAILED: {one.failure}"
        for cell in row.cells:
            if cell.metric != PASSES and cell.metric not in result["scores"]:
                self.failed += 1
                return line + f"FAILED: {no_score(cell, result)}"
        return line + f"{run_scores(row, result)}, {duration(result['seconds'])}"


def _json_lines(records: list[Record]) -> str:
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    return "".join(lines)


def _require_own(folder: Path) -> None:
    """
    Raises `InputError` if a file has the name of one of a table's, and not the
    contents.
    """
    for name, is_own in WRITTEN.items():
        file = folder / name
        if not file.exists():
            continue
        if not file.is_file() or not is_own(file):
            raise InputError(
                "expected no such file, or one that `elmo-tasks ablate` wrote",
                file=file,
                hint="it would be overwritten: give -s another folder",
            )


def _has_records(file: Path) -> bool:
    for line in file.read_text("utf-8", "replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            return False
        is_record = isinstance(record, dict) and record.keys() >= {"row", "seed"}
        if not is_record or not record.keys() & {"hash", "failed"}:
            return False
    return True


def _has_table(file: Path) -> bool:
    return "\nOurs: mean ± standard deviation" in file.read_text("utf-8", "replace")


def _has_report(file: Path) -> bool:
    mark = '<meta name="generator" content="elmo-tasks ablate">'
    return mark in file.read_text("utf-8", "replace")


WRITTEN = {
    "results.jsonl": _has_records,
    "table.md": _has_table,
    "report.html": _has_report,
}
"""The files of a table, and whether a file is one."""
