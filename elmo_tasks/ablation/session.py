"""One call of `allennlp ablate`: plan the runs, execute those that are left, write the results."""

import json
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from elmo_tasks import settings
from elmo_tasks.ablation import cluster, local, run_dir
from elmo_tasks.ablation.local import RunFinished, RunStarted
from elmo_tasks.ablation.report import report
from elmo_tasks.ablation.runs import Planner, Run
from elmo_tasks.ablation.summary import Summary
from elmo_tasks.ablation.table import choose_rows, read_table
from elmo_tasks.ablation.text import duration, markdown, run_scores
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
        Where `table.md`, `results.jsonl` and `report.html` are written.
    runs : `Path`, optional
        The folder of the runs' folders (default: `folder / "runs"`).
    rows : `list[str]`, optional
        Patterns of row names (default: all rows).
    seeds, workers : `int`
    executor : `str`
        `local` or `ray`.
    cached : `bool`
        See `Planner`.

    # Raises

    `InputError`
        If the table is invalid, a pattern matches nothing, or a number is below 1.
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
        self._arguments = [table, "-s", str(folder), *([] if cached else ["--no-cache"])]
        self.table = read_table(table)
        self.planner = Planner(self.table, (runs or self.folder / "runs").absolute(), cached=cached)
        self.rows = choose_rows(self.table, rows or [])
        self._all = self.planner.runs(self.rows, range(1, seeds + 1))
        self.left = [run for run in self._all if run_dir.read_result(run.folder) is None]
        self.estimates = Estimates()
        for run in self.planner.runs(self.table.rows, range(1, seeds + 1)):
            if result := run_dir.read_result(run.folder):
                self.estimates.add(run, result["seconds"])
        self.interrupted, self.failed = False, 0

    @property
    def report_file(self) -> Path:
        """The path of the report."""
        return self.folder / "report.html"

    def run_all(self) -> Iterator[str]:
        """Execute the runs that are left, and yield a line for each start and end. Writes the files after each run."""
        done = len(self._all) - len(self.left)
        yield f"{self.table.title}: {len(self._all)} runs, {done} finished; estimated time left: {self.time_left()}"
        if self.left:
            self.write()  # fails now, not after the first run, if it cannot write
        self.interrupted = True
        for event in self._events(list(self.left)):
            if isinstance(event, RunStarted):
                yield f"started: {event.run.label}"
            else:
                self.left.remove(event.run)
                yield self._finished(event)
                self.write()
        self.interrupted = False

    def time_left(self) -> str:
        """An estimate for the runs that are left."""
        return self.estimates.left(self.left, workers=self.workers)

    def write(self) -> Summary:
        """Write the three files from the results so far. Raises `InputError` if they cannot be written."""
        summary = Summary(self.planner, seeds=self.seeds)
        records = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in summary.all_records())
        page = report(summary, self._command(summary))
        for name, text in (("results.jsonl", records), ("table.md", markdown(summary)), ("report.html", page)):
            with atomic_write(self.folder / name) as aside:
                aside.write_text(text, "utf-8")
        return summary

    def _command(self, summary: Summary) -> str:
        """The shell command that makes the same table."""
        variables = {settings.SCALE_VARIABLE: settings.scale()}
        if (root := settings.data_root()) not in (None, settings.fixtures_root() / "miniworld"):
            variables[settings.DATA_VARIABLE] = str(root)
        seeds = max([self.seeds, *(seed for records in summary.records.values() for seed in records)])
        call = ["allennlp", "ablate", *self._arguments, "--seeds", str(seeds)]
        return " ".join([f"{name}={shlex.quote(value)}" for name, value in variables.items()] + [shlex.join(call)])

    def _events(self, runs: list[Run]) -> Iterator[RunStarted | RunFinished]:
        return cluster.run_all(runs) if self.executor == RAY else local.run_all(runs, workers=self.workers)

    def _finished(self, event: RunFinished) -> str:
        line = f"[{len(self._all) - len(self.left)}/{len(self._all)}] {event.run.label}: "
        result = run_dir.read_result(event.run.folder)
        if result is None:
            self.failed += 1
            line += f"FAILED: {event.reason}"
        else:
            self.estimates.add(event.run, result["seconds"])
            line += f"{run_scores(event.run.row, result)}, {duration(result['seconds'])}"
        return f"{line}; {self.time_left()} left"


class Estimates:
    """Estimates from finished runs of the same row, else from the row's `minutes`, corrected by the finished runs."""

    def __init__(self) -> None:
        self._measured: dict[str, list[float]] = defaultdict(list)
        self._expected = self._actual = 0.0

    def add(self, run: Run, seconds: float) -> None:
        """Add a finished run."""
        self._measured[run.row.name].append(seconds)
        if run.row.minutes is not None:
            self._expected, self._actual = self._expected + 60 * run.row.minutes, self._actual + seconds

    def seconds(self, run: Run) -> float | None:
        """The estimate for a run; None if there is nothing to base it on."""
        if measured := self._measured.get(run.row.name):
            return sum(measured) / len(measured)
        if run.row.minutes is None:
            return None
        return 60 * run.row.minutes * (self._actual / self._expected if self._expected else 1.0)

    def left(self, runs: Iterable[Run], *, workers: int) -> str:
        """The time for these runs, such as `12 min`; `more than 12 min` if some are unknown, `unknown` if all are."""
        each = [self.seconds(run) for run in runs]
        known = [seconds for seconds in each if seconds is not None]
        if each and not known:
            return duration(None)
        total = duration(max([sum(known) / workers, *known], default=0.0))
        return total if len(known) == len(each) else f"more than {total}"
