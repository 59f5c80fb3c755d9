"""
One call of `elmo-tasks ablate`: plan the runs, execute those that are left, write the
results.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from elmo_tasks import resources
from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.local import LocalWorkers
from elmo_tasks.experiments.tables.process import Workers
from elmo_tasks.experiments.tables.results import Summary, score
from elmo_tasks.experiments.tables.runs import Planner, Run
from elmo_tasks.experiments.tables.schedule import execute_all
from elmo_tasks.experiments.tables.table import PASSES, choose_rows, read_table
from elmo_tasks.experiments.tables.text import duration, no_score, results
from elmo_tasks.settings import Size, checked
from elmo_tasks.system.files import atomic_write


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
        self.table = read_table(table, scale)
        home = (runs or self.folder / "runs").absolute()
        self.planner = Planner(self.table, home, cached=cached, packages=packages)
        self.rows = choose_rows(self.table, rows or [])
        self._all = self.planner.runs(self.rows, seeds)
        self.left = [run for run in self._all if not run_dir.is_finished(run.folder)]
        self.failed = 0

    def run_all(self, report: Callable[[str], None]) -> None:
        """
        Execute the runs that are left, and report a line for each start and end. Writes
        the files after each run.
        """
        done = len(self._all) - len(self.left)
        report(
            f"{self.table.title}, scale {self.table.scale}: {len(self._all)} runs, {done} finished"
        )
        if isinstance(self.workers, LocalWorkers):  # nodes may have other files
            self.check()
        if self.left:
            self.write()  # fails now, not after the first run, if it cannot write

        def started(run: Run) -> None:
            report(f"started: {run.label}; its log: {run.folder / run_dir.LOG}")

        for run, failure in execute_all(list(self.left), self.workers, started=started):
            self.left.remove(run)
            ended = len(self._all) - len(self.left)
            report(
                f"[{ended}/{len(self._all)}] {run.label}: {self._ended(run, failure)}"
            )
            self.write()

    def check(self) -> None:
        """See `Planner.check`: the configs of the rows that are left."""
        self.planner.check([run.row for run in self.left])

    def write(self) -> Summary:
        """
        Write the two files from the results so far. Raises `InputError` if they cannot
        be written.
        """
        summary = Summary(self.planner, seeds=self.seeds, chosen=self.rows)
        lines = []
        for record in summary.all_records():
            lines.append(json.dumps(record, ensure_ascii=False) + "\n")
        texts = {
            "results.jsonl": "".join(lines),
            "table.md": results(summary) + "\n",
        }
        for name, text in texts.items():
            with atomic_write(self.folder / name) as aside:
                # Names of files may be no UTF-8.
                aside.write_text(text, "utf-8", "backslashreplace")
        return summary

    def _ended(self, run: Run, failure: str | None) -> str:
        row = run.row
        result = run_dir.read_result(run.folder)
        if failure is None and result is not None:
            took = duration(result["seconds"])
            value = score(result, row)
            if value is not None:
                return f"{row.metric} {row.kind.text(value)}, {took}"
            if row.metric == PASSES:
                return took
            failure = no_score(row, result)
        self.failed += 1
        return f"FAILED: {failure}"
