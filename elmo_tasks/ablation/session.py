"""One call of the command: what there is to do, doing it, and the files that tell of it."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from elmo_tasks import settings
from elmo_tasks.ablation import cluster, local
from elmo_tasks.ablation import folder as folders
from elmo_tasks.ablation.local import RunFinished, RunStarted
from elmo_tasks.ablation.progress import Estimates, duration
from elmo_tasks.ablation.report import report
from elmo_tasks.ablation.runs import Planner, Run
from elmo_tasks.ablation.summary import Summary
from elmo_tasks.ablation.table import Row, read_table
from elmo_tasks.ablation.text import markdown, run_scores
from elmo_tasks.atomic import atomic_write
from elmo_tasks.ranges import require_sizes

LOCAL, RAY = "local", "ray"
EXECUTORS = (LOCAL, RAY)


class Session:
    """
    # Parameters

    table : `str`
        The table's file.
    folder : `Path`
        Gets `table.md`, `results.jsonl` and `report.html`.
    runs : `Path`, optional
        The folder of the runs' folders; `runs` in `folder` by default.
    rows : `list[str]`
        Patterns; without one all rows.
    seeds, workers : `int`
    executor : `str`
        `local` or `ray`.
    cached : `bool`
        See `Planner`.

    # Raises

    `InputError`
        If the table or a row of it is faulty, a pattern matches nothing, or a number is below 1.
    """

    def __init__(
        self,
        table: str,
        folder: Path,
        *,
        runs: Path | None = None,
        rows: list[str] | None = None,
        seeds: int = 1,
        workers: int = 1,
        executor: str = LOCAL,
        cached: bool = True,
    ) -> None:
        require_sizes(seeds=seeds, workers=workers)
        self.folder, self.seeds, self.workers, self.executor = folder.absolute(), seeds, workers, executor
        self._file, self._given_folder, self._cached = table, str(folder), cached
        self.table = read_table(table)
        home = (runs or self.folder / "runs").absolute()
        self._planner = Planner(self.table, home, cached=cached)
        self.rows = self.table.chosen(rows or [])
        self._all = self._planner.runs(self.rows, range(1, seeds + 1))
        self.estimates = Estimates(self._planner)
        self.left = [run for run in self._all if not folders.is_finished(run.folder)]
        self._learn_from_finished_runs()
        self.interrupted, self.failed = False, 0

    @property
    def report_file(self) -> Path:
        """Where the report is."""
        return self.folder / "report.html"

    def differences(self, row: Row) -> dict[str, tuple[Any, Any]]:
        """See `Planner.differences`."""
        return self._planner.differences(row)

    def run_all(self) -> Iterator[str]:
        """Carries out what is left, and tells of each run that begins or ends. Before and after it writes the files."""
        yield self._begin()
        if self.left:
            self.write()  # before hours are spent on what could not be written
        self.interrupted = True
        left = list(self.left)
        for event in self._events(left):
            if isinstance(event, RunStarted):
                yield f"begins: {event.run.label}"
            else:
                left.remove(event.run)
                yield self._ended(event, left)
                self.write()
        self.interrupted = False

    def write(self) -> Summary:
        """Writes the three files from what is finished so far. Raises `InputError` where they cannot be written."""
        summary = Summary(self._planner, seeds=self.seeds)
        records = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in summary.all_records())
        for name, text in (
            ("results.jsonl", records),
            ("table.md", markdown(summary)),
            ("report.html", report(summary, self._command(summary))),
        ):
            with atomic_write(self.folder / name) as aside:
                aside.write_text(text, "utf-8")
        return summary

    def _command(self, summary: Summary) -> str:
        """What makes the same table, in a shell."""
        variables = {settings.SCALE_VARIABLE: settings.scale()}
        if (root := settings.data_root()) not in (None, settings.fixtures_root() / "miniworld"):
            variables[settings.DATA_VARIABLE] = str(root)
        seeds = max([self.seeds, *(seed for records in summary.records.values() for seed in records)])
        call = ["allennlp", "ablate", self._file, "-s", self._given_folder, "--seeds", str(seeds)]
        call += [] if self._cached else ["--no-cache"]
        return " ".join([f"{name}={shlex.quote(value)}" for name, value in variables.items()] + [shlex.join(call)])

    def _events(self, left: list[Run]) -> Iterator[RunStarted | RunFinished]:
        if self.executor == RAY:
            return cluster.run_all(list(left))
        return local.run_all(list(left), workers=self.workers)

    def _begin(self) -> str:
        time_left = self.estimates.left(self.left, workers=self.workers)
        done = len(self._all) - len(self.left)
        return f"{self.table.title}: {len(self._all)} runs, {done} finished before; estimate for the rest: {time_left}"

    def _ended(self, outcome: RunFinished, left: list[Run]) -> str:
        run = outcome.run
        told = f"[{len(self._all) - len(left)}/{len(self._all)}] {run.label}: "
        if outcome.reason is not None:
            self.failed += 1
            told += f"FAILED: {outcome.reason}"
        else:
            record = folders.read_result(run.folder) or {"scores": {}, "seconds": outcome.seconds}
            self.estimates.measured(run, record["seconds"])
            told += f"{run_scores(run.row, record)}, {duration(record['seconds'])}"
        return f"{told}; {self.estimates.left(left, workers=self.workers)} left"

    def _learn_from_finished_runs(self) -> None:
        for run in self._planner.runs(self.table.rows, range(1, self.seeds + 1)):
            record = folders.read_result(run.folder)
            if record is not None:
                self.estimates.measured(run, record["seconds"])
