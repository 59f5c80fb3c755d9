"""Estimates of how long runs take."""

from collections import defaultdict
from collections.abc import Iterable

from elmo_tasks.ablation.runs import Run


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


def duration(seconds: float | None) -> str:
    """`40 s`, `12 min`, `3.5 h`; `unknown` for None."""
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
