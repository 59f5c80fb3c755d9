"""On a terminal, a line for each running run with its epoch, score and time left, redrawn in place."""

import shutil
import sys
import time
from collections.abc import Callable

from tqdm import tqdm

from elmo_tasks.experiments.tables import run_dir
from elmo_tasks.experiments.tables.results import duration, run_scores
from elmo_tasks.experiments.tables.runs import Run


class Progress:
    """The lines of the running runs; `estimate` are the seconds that a run takes, if known."""

    def __init__(self, estimate: Callable[[Run], float | None]) -> None:
        self._estimate = estimate
        self._lines: dict[str, _Line] = {}

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        for line in self._lines.values():
            line.bar.close()

    def show(self, run: Run) -> None:
        """Update the line of a running run."""
        if sys.stdout.isatty():
            if run.digest not in self._lines:
                self._lines[run.digest] = _Line(run)
            line = self._lines[run.digest]
            width = shutil.get_terminal_size().columns - 1
            line.bar.set_description_str(f"{run.label}: {line.state(self._estimate(run))}"[:width])

    def close(self, run: Run) -> None:
        """Remove the line of a run."""
        if line := self._lines.pop(run.digest, None):
            line.bar.close()


class _Line:
    def __init__(self, run: Run) -> None:
        self.bar = tqdm(bar_format="{desc}", leave=False, file=sys.stdout)
        self._run, self._began = run, time.monotonic()
        self._first = self._epochs = len(run_dir.curve(run.folder))  # of an earlier attempt
        self._seconds = 0.0  # until the last epoch

    def state(self, estimate: float | None) -> str:
        """`3 of 10 epochs, f1 61.2, 40 s; 2 min left`, as far as it is known."""
        curve, seconds = run_dir.curve(self._run.folder), time.monotonic() - self._began
        epochs = self._run.plan["config"].get("trainer", {}).get("num_epochs")
        if len(curve) > self._epochs:
            self._epochs, self._seconds = len(curve), seconds
        if epochs and self._epochs > self._first:
            estimate = self._seconds / (self._epochs - self._first) * (epochs - self._first)
        parts = [f"{len(curve)} of {epochs} epochs"] if epochs else []
        parts += [scores] if curve and (scores := run_scores(self._run.row, {"scores": curve[-1]})) else []
        left = "" if estimate is None else f"; {duration(max(0.0, estimate - seconds))} left"
        return ", ".join([*parts, duration(seconds)]) + left
