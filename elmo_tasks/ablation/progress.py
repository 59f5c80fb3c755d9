"""How long runs take: from runs of the same row, else from the row's rough minutes; and how long the rest will."""

from collections.abc import Iterable
from typing import Any

from elmo_tasks.ablation.runs import Planner, Run


class Estimates:
    """
    # Parameters

    planner : `Planner`
        Knows how many epochs a row and its base have.
    """

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._measured: dict[str, list[float]] = {}
        self._guessed = self._took = 0.0

    def measured(self, run: Run, seconds: float) -> None:
        """Takes note of what a run took."""
        guess = self._guess(run)
        if guess is not None:
            self._guessed, self._took = self._guessed + guess, self._took + seconds
        self._measured.setdefault(run.row.name, []).append(seconds)

    def seconds(self, run: Run) -> float | None:
        """What the run will take; None where nothing is known."""
        known = self._measured.get(run.row.name)
        if known:
            return sum(known) / len(known)
        guess = self._guess(run)
        if guess is None:
            return None
        return guess * (self._took / self._guessed if self._guessed else 1.0)

    def left(self, runs: Iterable[Run], *, workers: int) -> str:
        """
        How long these runs take, `workers` at a time: `12 min`; `more than 12 min` where nothing is known of some of
        them, `not known` where nothing is known of any.
        """
        each = [self.seconds(run) for run in runs]
        known = [seconds for seconds in each if seconds is not None]
        if each and not known:
            return duration(None)
        total = duration(max([sum(known) / workers, *known], default=0.0))
        return total if len(known) == len(each) else f"more than {total}"

    def _guess(self, run: Run) -> float | None:
        if run.row.minutes is None:
            return None
        base, own = (_epochs(config) for config in (self._planner.bases[run.row.name], run.plan["config"]))
        return 60 * run.row.minutes * (own / base if base and own else 1.0)


def _epochs(config: dict[str, Any]) -> float | None:
    epochs = config.get("trainer", {}).get("num_epochs")
    return float(epochs) if isinstance(epochs, int) else None


def duration(seconds: float | None) -> str:
    """`40 s`, `12 min`, `3.5 h`; `not known` for None."""
    if seconds is None:
        return "not known"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
