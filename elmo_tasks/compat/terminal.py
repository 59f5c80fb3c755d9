"""Patches of `allennlp.common.logging`: the settings of a run, and one line per error of the user."""

import errno
import logging
import os
import re
import signal
import sys
from collections.abc import Iterator
from os import PathLike
from types import TracebackType

from allennlp.common import logging as allennlp_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived
from torch.multiprocessing.spawn import ProcessRaisedException

from elmo_tasks import settings
from elmo_tasks.errors import InputError

TRACEBACK_VARIABLE = "ELMO_TASKS_TRACEBACK"

JSONNET_PREFIXES = ("RUNTIME ERROR: ", "STATIC ERROR: ")
NAN_LOSS = "nan loss encountered"
NAN_ADVICE = (
    "the loss is NaN (lower the learning rate, set trainer.grad_norm or grad_clipping, and check that"
    " the biLM's weights are trained)"
)
OVERRIDES_PREFIX = "overrides dict contains unused keys: "
WORKER_ERROR = re.compile(r"^elmo_tasks\.errors\.InputError: (.+)$", re.MULTILINE)
"""In the traceback of a worker of a distributed training, which the first process gets as text."""
SIGNALS: dict[type[BaseException], int] = {KeyboardInterrupt: signal.SIGINT, SigTermReceived: signal.SIGTERM}
"""The exceptions of AllenNLP's signal handlers."""
RESUME_TRAINING = "; the same command with --recover, without --force, resumes from the last checkpoint"
TORCH_WRITER_PREFIXES = ("[enforce fail at inline_container.cc", "PytorchStreamWriter failed")


def causes(error: BaseException) -> Iterator[BaseException]:
    """`error` and the errors it was raised from, the outermost first."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__


def jsonnet_line(message: str) -> str:
    """The problem in a Jsonnet error, and its place unless the problem includes it."""
    first, *stack = message.split("\n")
    prefix = next(prefix for prefix in JSONNET_PREFIXES if message.startswith(prefix))
    place = stack[0].strip().split("\t")[0] if stack else ""
    return first.removeprefix(prefix) + (f" (at {place})" if place else "")


def os_error_line(error: OSError) -> str | None:
    """The file and the problem; `None` if no file of the user is concerned."""
    if error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EROFS, errno.EDQUOT):
        return f"writing failed: {error.strerror}"
    return message_of(error) if isinstance(error, FileNotFoundError) else None


def message_of(error: BaseException) -> str:
    """The message without what AllenNLP puts before it when it tries the types of a union."""
    if isinstance(error, ConfigurationError) or not error.args:
        return str(error)
    return str(error.args[-1])


def one_line(error: BaseException) -> str | None:
    """The message of an error that the user can fix; `None` for other errors."""
    for cause in causes(error):
        if isinstance(cause, InputError):
            return message_of(cause)
    text = str(error)
    if isinstance(error, ProcessRaisedException) and (messages := WORKER_ERROR.findall(text)):
        return str(messages[-1])
    if isinstance(error, ConfigurationError):
        return "; ".join(" ".join(message_of(cause).split()) for cause in causes(error))
    if isinstance(error, OSError):
        return os_error_line(error)
    if isinstance(error, RuntimeError) and text.startswith(JSONNET_PREFIXES):
        return jsonnet_line(text)
    if isinstance(error, ValueError) and text == NAN_LOSS:
        return NAN_ADVICE
    if isinstance(error, ValueError) and text.startswith(OVERRIDES_PREFIX):
        return f"the overrides (-o) change keys that the config does not have: {text.removeprefix(OVERRIDES_PREFIX)}"
    if isinstance(error, RuntimeError) and text.startswith(TORCH_WRITER_PREFIXES):
        return f"a checkpoint could not be written (is the disk full?): {text}"
    return None


def log_to_files(error: BaseException) -> None:
    """Writes the traceback to the run's `out.log`, if there is one."""
    logger = logging.getLogger()
    trace = (type(error), error, error.__traceback__)
    record = logger.makeRecord(logger.name, logging.CRITICAL, __file__, 0, "Stopped", (), trace)
    for handler in logger.handlers:
        if isinstance(handler, logging.FileHandler):
            handler.handle(record)


def install_exception_hook() -> None:
    """Installs a hook, once, that shows errors of the user and interrupts in one line."""
    previous = sys.excepthook
    if getattr(previous, "shows_user_errors", False):
        return

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        shortened = not os.environ.get(TRACEBACK_VARIABLE)
        if shortened and kind in SIGNALS:
            advice = RESUME_TRAINING if sys.argv[1:2] == ["train"] else ""
            sys.stderr.write(f"interrupted{advice}\n")
            raise SystemExit(128 + SIGNALS[kind])
        line = one_line(error) if shortened else None
        if line is None:
            previous(kind, error, traceback)
            return
        log_to_files(error)
        sys.stderr.write(f"error: {line}\n")

    vars(hook)["shows_user_errors"] = True
    sys.excepthook = hook


def let_sigterm_end() -> None:
    """
    Makes `SigTermReceived` pass `except Exception`, as `KeyboardInterrupt` does. The patch can go when AllenNLP
    derives it from `BaseException`.
    """
    SigTermReceived.__bases__ = (BaseException,)


def show_user_errors() -> None:
    """
    Shows errors of the user as one line on stderr, with `ELMO_TASKS_TRACEBACK=1` as a traceback.

    When a training starts, `prepare_global_logging` replaces the exception hook by one that logs every error with its
    traceback. This patch installs its hook again, and logs scale and data root. It can go when AllenNLP leaves the hook
    alone.
    """
    install_exception_hook()
    original = allennlp_logging.prepare_global_logging

    def prepare_global_logging(serialization_dir: str | PathLike[str], rank: int = 0, world_size: int = 1) -> None:
        original(serialization_dir, rank=rank, world_size=world_size)
        logging.raiseExceptions = False  # on a full disk the run itself fails, with one line
        install_exception_hook()
        settings.announce()

    allennlp_logging.prepare_global_logging = prepare_global_logging
