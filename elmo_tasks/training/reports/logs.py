"""
What a training reports, a line for each epoch, and what it writes to `out.log`.
"""

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from allennlp.common.tqdm import logger as allennlp_progress
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from overrides import overrides

from elmo_tasks.system.run_names import LOG

logger = logging.getLogger(__name__)

_OF_TRAINER = logging.getLogger(GradientDescentTrainer.__module__)

LEVEL_VARIABLE = "ALLENNLP_LOG_LEVEL"
FORMAT = "%(asctime)s - %(levelname)s - %(name)s - %(message)s"


@contextmanager
def logged(folder: Path, report: Callable[[str], None] | None = None) -> Iterator[None]:
    """
    AllenNLP prints all that it logs. Here `report` gets what this package logs, a line
    at a time; `out.log` still gets everything, and the traceback of an error.
    AllenNLP's own handlers, which a training makes, are limited to warnings. At
    the end everything is as before.
    """
    file = _LogFile(folder / LOG)
    file.setFormatter(logging.Formatter(FORMAT))
    handlers: dict[str, list[logging.Handler]] = {
        "allennlp": [file],
        "elmo_tasks": [file],
    }
    if report is not None:
        handlers["elmo_tasks"].append(_Reporter(report))
    with _restored(file):
        _OF_TRAINER.addFilter(_is_no_advice)
        os.environ[LEVEL_VARIABLE] = "WARNING"
        for shown_before in logging.getLogger().handlers:
            shown_before.setLevel(logging.WARNING)  # AllenNLP replaces them later
        for name, of_logger in handlers.items():
            logging.getLogger(name).setLevel(logging.INFO)
            for handler in of_logger:
                # AllenNLP's handlers have the warnings and errors.
                handler.addFilter(lambda record: record.levelno < logging.WARNING)
                logging.getLogger(name).addHandler(handler)
        try:
            yield
        except Exception:
            with suppress(OSError, UnicodeError):  # of a full disk, or a surrogate
                traceback.print_exc(file=file.stream)
            raise


def _is_no_advice(record: logging.LogRecord) -> bool:
    """Not that `patience` is null: it is so on purpose, in most of the paper's configs."""
    return "patience was set to None" not in str(record.msg)


class _LogFile(logging.FileHandler):
    """
    The run's log. A message that cannot be written is not reported: on a full disk the
    run itself fails.
    """

    @overrides
    def handleError(self, record: logging.LogRecord) -> None:
        pass


class _Reporter(logging.Handler):
    """Calls a function with each message; nothing is reported, as for the log."""

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report

    @overrides
    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._report(self.format(record))
        except Exception:
            self.handleError(record)

    @overrides
    def handleError(self, record: logging.LogRecord) -> None:
        pass


@contextmanager
def _restored(file: logging.Handler) -> Iterator[None]:
    """
    Undoes at the end what a training sets for the whole process: levels and handlers of
    loggers, AllenNLP's variable, and its hook for uncaught errors. Closes `file` and
    the handlers that were added.
    """
    loggers = [logging.getLogger(name) for name in (None, "allennlp", "elmo_tasks")]
    loggers.append(allennlp_progress)
    before = [(one, one.level, one.handlers[:]) for one in loggers]
    levels = []
    for one in loggers:
        levels += [(handler, handler.level) for handler in one.handlers]
    variable = os.environ.get(LEVEL_VARIABLE)
    hook = sys.excepthook
    try:
        yield
    finally:
        for one, level, found in before:
            for handler in set(one.handlers) - set(found):
                handler.close()
            one.handlers[:] = found
            one.setLevel(level)
        for handler, level in levels:
            handler.setLevel(level)
        file.close()
        _OF_TRAINER.removeFilter(_is_no_advice)
        sys.excepthook = hook
        if variable is None:
            os.environ.pop(LEVEL_VARIABLE, None)
        else:
            os.environ[LEVEL_VARIABLE] = variable


class EpochLines(TrainerCallback):
    """
    Logs loss, score and best score after each epoch, and the best epoch at the end.
    """

    @overrides
    def on_epoch(
        self,
        trainer: Any,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        if not is_primary or "training_loss" not in metrics:
            return
        shown = [
            f"epoch {epoch + 1} of {trainer._num_epochs}",
            f"loss {metrics['training_loss']:.4g}",
        ]
        for name, value in _scores(trainer, metrics, "validation_"):
            best = metrics.get(f"best_validation_{name}", value)
            shown.append(f"{name} {value:.4g} (best {best:.4g})")
        logger.info(", ".join(shown))

    @overrides
    def on_end(
        self,
        trainer: Any,
        metrics: dict[str, Any] | None = None,
        epoch: Any = None,
        is_primary: bool = True,
        **_: Any,
    ) -> None:
        if not is_primary or not metrics or "best_epoch" not in metrics:
            return
        scores = []
        for name, value in _scores(trainer, metrics, "best_validation_"):
            scores.append(f"{name} {value:.4g}")
        line = ", ".join(scores) or "no validation"
        logger.info("best epoch %s: %s", metrics["best_epoch"] + 1, line)


def _scores(
    trainer: Any, metrics: dict[str, Any], prefix: str
) -> list[tuple[str, float]]:
    """Name and value of the validation metrics that decide which epoch is the best."""
    found = []
    for _, name in trainer._metric_tracker.tracked_metrics:
        if prefix + name in metrics:
            found.append((name, metrics[prefix + name]))
    return found
