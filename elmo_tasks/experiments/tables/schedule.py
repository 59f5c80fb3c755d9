"""
Step 3: have workers execute the runs of a table, and follow the state of each run.
"""

import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from enum import Enum

from elmo_tasks.experiments.tables import process, run_dir
from elmo_tasks.experiments.tables.process import RunCommand, Workers
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.system.files import is_held
from elmo_tasks.system.ray_cluster import first_line

POLL_SECONDS = 0.5


class State(Enum):
    """What a run is, as far as this call of `elmo-tasks ablate` knows."""

    WAITING = "waits for runs that it needs, or for a free worker"
    HELD = "another process executes it"
    RUNNING = "a worker of this call executes it"
    FINISHED = "has a result"
    FAILED = "has failed"
    SKIPPED = "a run that it needs has failed"


ENDED = (State.FINISHED, State.FAILED, State.SKIPPED)


@dataclass(eq=False)
class ScheduledRun:
    """
    A run and its `state`. `failure` says why it has failed or was skipped.
    `failed_before` is when an earlier attempt failed, see `run_dir.failed_at`.

    While a worker has it, `call` is the future of its exit code, and `slot` the number
    of the worker's share of the machine.
    """

    run: Run
    failed_before: int | None
    state: State = State.WAITING
    failure: str | None = None
    call: Future[int] | None = None
    slot: int | None = None


class Scheduler:
    """
    Executes runs, each in a process of its own, as many at a time as `workers` has
    slots.

    They start in the given order, but each after the runs that it needs, and those that
    other processes execute last: a run that another process finishes, or that meanwhile
    fails there, is not repeated. With `join`, the order is random, so that calls that
    start together differ, and it ends when others execute all that is left.

    `command` is what Python executes in the folder of a run, see `process.COMMAND`.
    """

    def __init__(
        self,
        runs: list[Run],
        workers: Workers,
        *,
        join: bool = False,
        command: tuple[str, ...] = process.COMMAND,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.runs = [ScheduledRun(run, run_dir.failed_at(run.folder)) for run in runs]
        if join:
            random.shuffle(self.runs)
        self._workers = workers
        self._join = join
        self._command = command
        self._poll_seconds = poll_seconds

    def changes(self) -> Iterator[ScheduledRun]:
        """
        Executes all, and yields a run whenever it is held, starts on a worker or has
        ended. At the end, or when this is closed, the workers are closed, which stops
        what they execute.
        """
        try:
            while self._unended():
                yield from self._begin_ready()
                if self._join and self._others_execute_all():
                    return
                ended = self._wait()
                yield from self._see_ends(ended)
                yield from self._skip()
        finally:
            self._workers.close()

    def _in(self, *states: State) -> list[ScheduledRun]:
        return [one for one in self.runs if one.state in states]

    def _unended(self) -> list[ScheduledRun]:
        return [one for one in self.runs if one.state not in ENDED]

    def _executed(self) -> list[ScheduledRun]:
        return self._in(State.RUNNING)

    def _ready(self) -> list[ScheduledRun]:
        """Those that need no run that has not ended."""
        needed = {one.run.digest for one in self._unended()}
        waiting = self._in(State.WAITING, State.HELD)
        return [one for one in waiting if needed.isdisjoint(one.run.after)]

    def _begin_ready(self) -> Iterator[ScheduledRun]:
        for one in self._ready():
            if len(self._executed()) == self._workers.slots:
                return
            if _ended_elsewhere(one):
                _end(one, code=1)
                yield one
            elif not is_held(one.run.folder):
                self._start(one)
                yield one
            elif one.state is not State.HELD:
                one.state = State.HELD
                yield one

    def _start(self, one: ScheduledRun) -> None:
        one.run.prepare()
        taken = {other.slot for other in self._executed()}
        one.slot = min(set(range(self._workers.slots)) - taken)
        variables = _own_variables() | self._workers.share(one.slot)
        command = RunCommand(self._command, one.run.folder, os.getcwd(), variables)
        one.call = self._workers.start(command)
        one.state = State.RUNNING

    def _others_execute_all(self) -> bool:
        """Whether this call executes nothing, and other processes all that is left."""
        if self._executed():
            return False
        left = self._in(State.WAITING, State.HELD)
        return all(is_held(one.run.folder) for one in left)

    def _wait(self) -> list[tuple[ScheduledRun, Future[int]]]:
        """
        Wait until a worker has ended a run, but not for long: what other processes do
        is in files. Returns the runs that have ended, with their calls.
        """
        calls = {}
        for one in self._executed():
            if one.call is not None:
                calls[one.call] = one
        if not calls:
            time.sleep(self._poll_seconds)
            return []
        done, _ = wait(calls, timeout=self._poll_seconds, return_when=FIRST_COMPLETED)
        return [(one, call) for call, one in calls.items() if call in done]

    def _see_ends(
        self, ended: list[tuple[ScheduledRun, Future[int]]]
    ) -> Iterator[ScheduledRun]:
        for one, call in ended:
            code = _exit_code(one.run, call)
            one.call = None
            one.slot = None
            if code == process.HELD:  # another process has been faster
                one.state = State.WAITING
                continue
            _end(one, code=code)
            yield one

    def _skip(self) -> Iterator[ScheduledRun]:
        failed = {one.run.digest for one in self._in(State.FAILED, State.SKIPPED)}
        for one in self._in(State.WAITING, State.HELD):
            if not failed.isdisjoint(one.run.after):
                failed.add(one.run.digest)
                one.state = State.SKIPPED
                one.failure = "a run that it needs failed"
                yield one


def _ended_elsewhere(one: ScheduledRun) -> bool:
    """
    Whether another process has finished the run, or has failed to since this call
    began.
    """
    failed_at = run_dir.failed_at(one.run.folder)
    if failed_at is not None and failed_at != one.failed_before:
        return True
    return run_dir.read_result(one.run.folder) is not None


def _end(one: ScheduledRun, *, code: int) -> None:
    """The process of the run has ended with this exit code."""
    one.failure = run_dir.failure_of(one.run.folder, code)
    if one.failure is None:
        one.state = State.FINISHED
    else:
        one.state = State.FAILED


def _exit_code(run: Run, call: Future[int]) -> int:
    """
    That of the run's process; 1, and the failure is recorded, if the worker was lost
    before there was a result.
    """
    try:
        return call.result()
    except Exception as error:  # Ray has many
        if run_dir.read_result(run.folder) is None:
            run_dir.write_failure(run.folder, first_line(error))
        return 1


def _own_variables() -> dict[str, str]:
    """
    What a run on another machine gets of this environment: the data root and the
    location of the code.
    """
    found = {}
    for name, value in os.environ.items():
        if name.startswith(("ELMO_TASKS_", "PYTHONPATH")):
            found[name] = value
    return found
