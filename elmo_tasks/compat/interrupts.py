"""Patches of `allennlp train` for Ctrl-C and SIGTERM: a report in place of a traceback."""

import functools
import inspect
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allennlp.commands import train
from allennlp.common.util import SigTermReceived
from allennlp.training import Checkpointer, GradientDescentTrainer

from elmo_tasks import settings

SIGNALS = {KeyboardInterrupt: signal.SIGINT, SigTermReceived: signal.SIGTERM}
"""The exceptions of AllenNLP's signal handlers."""

PROGRESS, REPORT = "training_progress", "training_report"
"""Attributes of an interrupt: the progress of the training, and the report for the user."""

RECOVER, FORCE = ("-r", "--recover"), ("-f", "--force")


def report_interrupts() -> None:
    """
    Makes an interrupted `allennlp train` report its progress and the command that resumes it.

    AllenNLP shows a traceback, and exits with 1 after SIGTERM. The patch can go when AllenNLP reports as much.
    """
    GradientDescentTrainer.train = _noting_progress(GradientDescentTrainer.train)
    train.train_model_from_file = _reporting(train.train_model_from_file)


def exit_status(error: BaseException) -> int:
    """That of a process which the signal ends."""
    return 128 + next(number for kind, number in SIGNALS.items() if isinstance(error, kind))


def report_of(error: BaseException) -> str | None:
    """The report on an interrupt of `allennlp train`; `None` for other errors."""
    return vars(error).get(REPORT) if isinstance(error, tuple(SIGNALS)) else None


def _noting_progress(run: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run)
    def wrapper(trainer: GradientDescentTrainer) -> Any:
        try:
            return run(trainer)
        except tuple(SIGNALS) as error:
            steps = trainer._batches_in_epoch_completed
            epochs = f"{trainer._epochs_completed} of {trainer._num_epochs} epochs"
            vars(error)[PROGRESS] = f"{epochs} and {steps} step{'' if steps == 1 else 's'} of the next"
            raise

    return wrapper


def _reporting(run: Callable[..., Any]) -> Callable[..., Any]:
    """`train_model_from_file`; a program that calls it handles interrupts itself."""

    @functools.wraps(run)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        try:
            return run(*arguments, **options)
        except tuple(SIGNALS) as error:
            if sys.argv[1:2] == ["train"]:
                folder = inspect.signature(run).bind(*arguments, **options).arguments["serialization_dir"]
                vars(error)[REPORT] = _report(Path(folder), vars(error).get(PROGRESS))
            raise

    return wrapper


def _report(folder: Path, progress: str | None) -> str:
    lines = [f"interrupted after {progress}" if progress else "interrupted before the first step"]
    if progress:
        points = sorted(Checkpointer(str(folder))._find_all_checkpoints())
        latest = "model_state_e{}_b{}.th".format(*points[-1]) if points else None
        lines.append(f"last checkpoint: {folder / latest}" if latest else "no checkpoint yet")
    if (folder / "model.tar.gz").is_file():
        lines.append(f"best epoch so far: {folder / 'model.tar.gz'}")
    return "\n".join([*lines, f"to resume: {_command(recover=folder.is_dir())}"])


def _command(*, recover: bool) -> str:
    """The command of this process, with `--recover` if the run has a folder."""
    program = Path(sys.argv[0])
    name = ["python", "-m", program.parent.name] if program.name == "__main__.py" else [program.name]
    given = sys.argv[1:]
    if recover:
        given = [argument for argument in given if argument not in FORCE]
        given += [] if set(given).intersection(RECOVER) else [RECOVER[-1]]
    return " ".join([*settings.assignments(), shlex.join([*name, *given])])
