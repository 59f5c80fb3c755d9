"""What a training reports, a line for each epoch, and what it writes to `out.log` and for TensorBoard."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from allennlp.common.tqdm import logger as allennlp_progress
from allennlp.training.callbacks import TensorBoardCallback, TrainerCallback
from allennlp.training.callbacks.log_writer import LogWriterCallback
from overrides import overrides
from tensorboardX import SummaryWriter

from elmo_tasks.errors import log_to_files, portable_logs
from elmo_tasks.run_names import EVENTS_OF_PARTS, LOG

logger = logging.getLogger(__name__)

LEVEL_VARIABLE = "ALLENNLP_LOG_LEVEL"
FORMAT = "%(asctime)s - %(levelname)s - %(name)s - %(message)s"


@contextmanager
def logged(folder: Path, report: Callable[[str], None] | None = None) -> Iterator[None]:
    """
    AllenNLP prints all that it logs. Here `report` gets what this package logs, a line at a time; `out.log` still gets
    everything, and the traceback of an error. AllenNLP's own handlers, which a training makes, are limited to warnings.
    Whoever logs them, messages have no keys of URLs and no path of the user's home folder. At the end everything is as
    before.
    """
    file = logging.FileHandler(folder / LOG)
    file.setFormatter(logging.Formatter(FORMAT))
    handlers: dict[str, list[logging.Handler]] = {
        "allennlp": [file],
        "elmo_tasks": [file],
    }
    if report is not None:
        handlers["elmo_tasks"].append(_Reporter(report))
    with portable_logs(), _restored(file):
        os.environ[LEVEL_VARIABLE] = "WARNING"
        for (
            shown_before
        ) in logging.getLogger().handlers:  # AllenNLP replaces them later
            shown_before.setLevel(logging.WARNING)
        for name, of_logger in handlers.items():
            logging.getLogger(name).setLevel(logging.INFO)
            for handler in of_logger:
                handler.addFilter(
                    lambda record: record.levelno < logging.WARNING
                )  # AllenNLP's handlers have the others
                handler.handleError = lambda record: None  # type: ignore[method-assign]  # on a full disk the run itself fails
                logging.getLogger(name).addHandler(handler)
        try:
            yield
        except Exception as error:
            log_to_files(error)
            raise


class _Reporter(logging.Handler):
    """Calls a function with each message."""

    def __init__(self, report: Callable[[str], None]) -> None:
        super().__init__()
        self._report = report

    @overrides
    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._report(self.format(record))
        except Exception:
            self.handleError(record)


@contextmanager
def _restored(file: logging.Handler) -> Iterator[None]:
    """
    Undoes at the end what a training sets for the whole process: levels and handlers of loggers, AllenNLP's variable,
    and its hook for uncaught errors. Closes `file` and the handlers that were added.
    """
    loggers = [logging.getLogger(name) for name in (None, "allennlp", "elmo_tasks")]
    loggers.append(allennlp_progress)
    before = [(one, one.level, one.handlers[:]) for one in loggers]
    levels = [(one, one.level) for _, _, found in before for one in found]
    variable, hook = os.environ.get(LEVEL_VARIABLE), sys.excepthook
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
        sys.excepthook = hook
        if variable is None:
            os.environ.pop(LEVEL_VARIABLE, None)
        else:
            os.environ[LEVEL_VARIABLE] = variable


EPOCH_LINES = "elmo_tasks_epoch_lines"


@TrainerCallback.register(EPOCH_LINES)
class EpochLines(TrainerCallback):
    """Logs loss, score, best score and time left after each epoch, and the best epoch at the end."""

    _began, _epochs = 0.0, 0

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        self._began, self._epochs = time.perf_counter(), 0

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
        self._epochs += 1
        left = (
            (trainer._num_epochs - epoch - 1)
            * (time.perf_counter() - self._began)
            / self._epochs
        )
        shown = [
            f"epoch {epoch + 1} of {trainer._num_epochs}",
            f"loss {metrics['training_loss']:.4g}",
        ]
        for name, value in _scores(trainer, metrics, "validation_"):
            shown.append(
                f"{name} {value:.4g} (best {metrics.get(f'best_validation_{name}', value):.4g})"
            )
        logger.info(
            "%s, at most %s left", ", ".join(shown), timedelta(seconds=round(left))
        )

    def on_end(
        self,
        trainer: Any,
        metrics: dict[str, Any] | None = None,
        epoch: Any = None,
        is_primary: bool = True,
        **_: Any,
    ) -> None:
        if is_primary and metrics and "best_epoch" in metrics:
            scores = [
                f"{name} {value:.4g}"
                for name, value in _scores(trainer, metrics, "best_validation_")
            ]
            logger.info(
                "best epoch %s: %s",
                metrics["best_epoch"] + 1,
                ", ".join(scores) or "no validation",
            )


class Events(TensorBoardCallback):
    """
    AllenNLP's `tensorboard`, without its limit on waiting events: where the disk is full, the thread that writes them
    ends, and the training would wait for it instead of failing.
    """

    def __init__(self, serialization_dir: str) -> None:
        LogWriterCallback.__init__(self, serialization_dir)
        self._train_log, self._validation_log = (
            SummaryWriter(os.path.join(serialization_dir, part), max_queue=0)
            for part in EVENTS_OF_PARTS
        )

    def log_scalars(
        self, scalars: dict[str, Any], log_prefix: str = "", epoch: int | None = None
    ) -> None:
        logs = self._train_log, self._validation_log
        if all(log.file_writer.event_writer._worker.is_alive() for log in logs):
            super().log_scalars(scalars, log_prefix, epoch)


def _scores(
    trainer: Any, metrics: dict[str, Any], prefix: str
) -> list[tuple[str, float]]:
    """Name and value of the validation metrics that decide which epoch is the best."""
    names = [name for _, name in trainer._metric_tracker.tracked_metrics]
    return [
        (name, metrics[prefix + name]) for name in names if prefix + name in metrics
    ]
