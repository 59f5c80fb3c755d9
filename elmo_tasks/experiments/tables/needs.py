"""What a table will need: the disk of its layer cache, and the memory of its runs."""

from collections.abc import Callable

from elmo_tasks.errors import InputError, one_line
from elmo_tasks.experiments.tables.disk import Cached, DiskCounter
from elmo_tasks.experiments.tables.memory import Memory, measure, trains_a_task
from elmo_tasks.experiments.tables.session import Session
from elmo_tasks.experiments.tables.table import Row
from elmo_tasks.experiments.tables.text import size


class Needs:
    """
    Counts and measures what the rows of a session need, each run once. `report` gets a
    line before each, since either can take minutes.
    """

    def __init__(self, session: Session, *, report: Callable[[str], None]) -> None:
        self._session = session
        self._report = report
        self._disk = DiskCounter()
        self._memory: dict[str, Memory] = {}
        self._uncounted = False

    def of(self, row: Row) -> list[str]:
        """Lines with the disk and the memory of a row whose files exist."""
        run = self._session.planner.run(row, 1)
        lines = []
        disk = self._disk_of(row)
        if disk is not None:
            lines.append(f"layer cache: {disk}")
        if trains_a_task(run):
            if run.digest not in self._memory:
                self._report(f"{row.name}: training a step on its largest batch")
                self._memory[run.digest] = measure(run)
            lines.append(f"memory: {_shown(self._memory[run.digest])}")
        return lines

    def together(self) -> list[str]:
        """Lines about all rows."""
        lines = []
        if self._uncounted or self._disk.total():
            total = size(self._disk.total())
            line = f"layer cache of these rows: at most {total}, and about a tenth more"
            line += " for the database"
            if self._uncounted:
                line += "; some rows were not counted"
            lines.append(line)
        peak = max([one.peak for one in self._memory.values()], default=0)
        if peak:
            line = f"memory of such a step: at most {size(peak)}"
            slots = self._session.workers.slots
            if slots > 1:
                line += f"; of {slots} at a time {size(slots * peak)}"
            lines.append(line)
        return lines

    def _disk_of(self, row: Row) -> str | None:
        """
        What a run of a row stores; the total has all its seeds, which may read other
        samples.
        """
        runs = []
        for seed in row.seeds(self._session.seeds):
            runs.append(self._session.planner.run(row, seed))
        if runs[0].plan["cached"]:
            self._report(f"{row.name}: counting the sentences of its data")
        try:
            counted = [self._disk.count(run) for run in runs]
        except (InputError, OSError) as error:
            self._uncounted = True
            return f"not counted: {one_line(error) or error}"
        if counted[0] is None:
            return None
        return _described(counted[0])


def _described(cached: Cached) -> str:
    sentences = f"{len(cached.sentences):,} distinct sentences"
    tokens = f"{cached.tokens:,} tokens of {cached.token_bytes:,} bytes"
    return f"at most {size(cached.size)} ({sentences}, {tokens})"


def _shown(memory: Memory) -> str:
    if memory.failure is not None:
        return f"not measured: {memory.failure}"
    text = size(memory.peak)
    if memory.peak_gpu:
        text += f", and {size(memory.peak_gpu)} of the GPU"
    return f"{text} (a step on the largest batch)"
