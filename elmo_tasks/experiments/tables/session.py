"""
One call of `elmo-tasks ablate`: plan the runs, execute those that are left, write the
results.
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from elmo_tasks import resources
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.process import Workers
from elmo_tasks.experiments.tables.results import Record, Summary, no_score
from elmo_tasks.experiments.tables.runs import Planner
from elmo_tasks.experiments.tables.schedule import Change, execute_all
from elmo_tasks.experiments.tables.table import PASSES, choose_rows, read_table
from elmo_tasks.experiments.tables.text import duration, markdown, run_scores
from elmo_tasks.settings import Size, checked
from elmo_tasks.system.files import atomic_write
from elmo_tasks.training.nested import strings


class Session:
    """
    The runs of the rows that match one of the patterns `rows`, with the seeds 1 to
    `seeds`. `table.md` and `results.jsonl` are written to `folder`, the runs to `runs`
    (default: `folder / "runs"`). `workers` (default: a process of this machine) execute
    the runs, which import `packages`. Raises `InputError` if the table is invalid, a
    pattern matches nothing, or a number is below 1.
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
        cached: bool = True,
        packages: Sequence[str] = (),
    ) -> None:
        self.folder = folder.absolute()
        self.seeds = seeds
        self.workers = LocalWorkers(1) if workers is None else workers
        self._arguments = [table, "--scale", scale, "-s", str(folder)]
        if not cached:
            self._arguments.append("--no-cache")
        for package in packages:
            self._arguments += ["--include-package", package]
        self.table = read_table(table, scale)
        is_mini = scale == resources.SCALES[0]
        self._data_root = None if is_mini else resources.data_root()
        home = (runs or self.folder / "runs").absolute()
        self.planner = Planner(self.table, home, cached=cached, packages=packages)
        self.rows = choose_rows(self.table, rows or [])
        self._all = self.planner.runs(self.rows, seeds)
        self.left = [run for run in self._all if not run_dir.is_finished(run.folder)]
        self.interrupted = False
        self.failed = 0

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
        for change in execute_all(list(self.left), self.workers):
            if change.has_ended:
                self.left.remove(change.run)
                yield self._ended(change)
                self.write()
            else:
                yield f"started: {change.run.label}; its log: {change.run.folder / run_dir.LOG}"
        self.interrupted = False

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

    def write(self) -> Summary:
        """
        Write the two files from the results so far. Raises `InputError` if they cannot
        be written.
        """
        summary = Summary(self.planner, seeds=self.seeds, chosen=self.rows)
        texts = {
            "results.jsonl": _json_lines(summary.all_records()),
            "table.md": markdown(summary, self._shell_command(summary)),
        }
        for name, text in texts.items():
            with atomic_write(self.folder / name) as aside:
                # Names of files may be no UTF-8.
                aside.write_text(text, "utf-8", "backslashreplace")
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

    def _ended(self, change: Change) -> str:
        row = change.run.row
        ended = len(self._all) - len(self.left)
        line = f"[{ended}/{len(self._all)}] {change.run.label}: "
        result = run_dir.read_result(change.run.folder)
        if change.failure is not None or result is None:
            self.failed += 1
            return line + f"FAILED: {change.failure}"
        for cell in row.cells:
            if cell.metric != PASSES and cell.metric not in result["scores"]:
                self.failed += 1
                return line + f"FAILED: {no_score(cell, result)}"
        return line + f"{run_scores(row, result)}, {duration(result['seconds'])}"


def _json_lines(records: list[Record]) -> str:
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    return "".join(lines)
