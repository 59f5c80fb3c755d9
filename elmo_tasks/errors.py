"""Errors that the user can fix: an invalid file, a wrong setting, a missing corpus."""

import difflib
import errno
import os
import re
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_LONGEST = 500
"""The length of a line in a message; longer ones are shortened in the middle."""

_SHOWN = 60
"""The length of a value in a message."""

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class InputError(ValueError):
    """
    An error in the input of the user. The command line shows its message without a
    traceback: the `file`, its `line`, counted from 1, the `problem`, such as `expected
    X, got Y`, and as a `hint` what to do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        text = _legible(problem)
        if line is not None and file is not None:
            text = f"{file}:{line}: {text}"
        elif file is not None:
            text = f"{file}: {text}"
        if hint is not None:
            text = f"{text} ({hint})"
        super().__init__(text)
        self.file: str | None = None
        if file is not None:
            self.file = str(file)
        self.line = line

    def __str__(self) -> str:
        return str(self.args[-1])  # AllenNLP inserts text before it

    def _render_traceback_(self) -> list[str]:
        """What notebooks show: one line, as the command line does."""
        return [f"{type(self).__name__}: {self}"]


def shown(value: Any) -> str:
    """The `repr` of a value in one line, truncated to 60 characters."""
    # An array, or an object of one's own, has several.
    text = re.sub(r"\s*\n\s*", " ", repr(value))
    if len(text) <= _SHOWN:
        return text
    return f"{text[:_SHOWN]}..."


ALLENNLP = "'elmo-tasks[tasks]' && pip install --no-deps allennlp==2.10.1"
"""What a command or an adapter that needs AllenNLP needs."""


@contextmanager
def needs(packages: str) -> Iterator[None]:
    """
    Replaces the error of a failed import by an `InputError` that says what to install.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(
            f"this needs the package {error.name}", hint=f"pip install {packages}"
        ) from error


def is_out_of_memory(error: BaseException) -> bool:
    """
    Whether an error is Python's, or PyTorch's on a CPU or a GPU, for memory that there
    is not.
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def _legible(problem: str) -> str:
    """The text with long lines shortened and control characters escaped."""
    half = _LONGEST // 2
    lines = []
    for line in problem.split("\n"):
        line = _CONTROL.sub(escaped, line)
        if len(line) > _LONGEST:
            line = f"{line[:half]} ... {line[-half:]}"
        lines.append(line)
    return "\n".join(lines)


def escaped(match: re.Match[str]) -> str:
    """A character as in a literal of Python, such as `\\t`."""
    return repr(match[0])[1:-1]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM, with a message that says how to go on."""


JSONNET_PREFIXES = ("RUNTIME ERROR: ", "STATIC ERROR: ")
OVERRIDES_PREFIX = "overrides dict contains unused keys: "
TORCH_WRITER_PREFIXES = (
    "[enforce fail at inline_container.cc",
    "PytorchStreamWriter failed",
)
WORKER_ERROR = re.compile(r"^elmo_tasks\.errors\.InputError: (.+)$", re.MULTILINE)
"""
In the traceback of a process of a distributed training, which the first process gets as
text.
"""


def one_line(error: BaseException) -> str | None:
    """The message of an error that the user can fix; `None` for other errors."""
    for cause in causes(error):
        if isinstance(cause, InputError):
            return str(cause)
    if isinstance(error, OSError):
        return _os_error_line(error)
    return _allennlp_line(error) or _worker_line(error) or _training_line(error)


_OTHERS = (str(Path(__file__).resolve().parent), str(Path(os.__file__).parent))
"""The folders of this package and of Python's own modules."""


def in_one_line(error: Exception) -> str:
    """What an error says; one that is not meant to be read says where it was raised."""
    line = one_line(error)
    if line is None:
        line = f"{type(error).__name__}: {str(error).strip()}".removesuffix(": ")
        line = " ".join(line.split()) + own_place(error)
    return line


def own_place(error: BaseException) -> str:
    """
    The innermost line of the user's own code that an error has passed through; empty if
    there is none.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        is_installed = "site-packages" in frame.filename
        is_file = os.path.isfile(frame.filename)
        if is_file and not is_installed and not frame.filename.startswith(_OTHERS):
            return f" ({frame.filename}:{frame.lineno})"
    return ""


def _is_of(error: BaseException, name: str) -> bool:
    """Whether an error is of a class of this name: its package need not be imported."""
    return name in [kind.__name__ for kind in type(error).__mro__]


def _allennlp_line(error: BaseException) -> str | None:
    """
    The messages of AllenNLP's `ConfigurationError` and of the errors it was raised
    from.
    """
    if not _is_of(error, "ConfigurationError"):
        return None
    return "; ".join([" ".join(_message(cause).split()) for cause in causes(error)])


def _worker_line(error: BaseException) -> str | None:
    """What PyTorch says of a process of a distributed training that has failed."""
    text = str(error)
    if _is_of(error, "ProcessExitedException"):
        return f"{text.strip()} (out of memory?); --recover resumes"
    if not _is_of(error, "ProcessRaisedException"):
        return None
    messages = WORKER_ERROR.findall(text)
    if not messages:
        return None
    return str(messages[-1])


def _training_line(error: BaseException) -> str | None:
    """
    What is wrong with a config, a training or its checkpoint, by the text of the error.
    """
    text = str(error)
    if is_out_of_memory(error):
        reason = text.partition("\n")[0] or type(error).__name__
        remedy = (
            "use smaller batches: data_loader.batch_size, --batch-size, --max-tokens"
        )
        return f"out of memory: {reason} ({remedy})"
    if isinstance(error, RuntimeError) and text.startswith(JSONNET_PREFIXES):
        return _jsonnet_line(text)
    if isinstance(error, ValueError) and text == "nan loss encountered":
        remedy = "lower the learning rate, set trainer.grad_norm or grad_clipping"
        return (
            f"the loss is NaN ({remedy}, and check that the biLM's weights are trained)"
        )
    if isinstance(error, ValueError) and text.startswith(OVERRIDES_PREFIX):
        return f"the overrides (-o) change keys that the config does not have: {text.removeprefix(OVERRIDES_PREFIX)}"
    if isinstance(error, RuntimeError) and text.startswith(TORCH_WRITER_PREFIXES):
        return f"a checkpoint could not be written (is the disk full?): {text}"
    return None


def _message(error: BaseException) -> str:
    """
    The message without what AllenNLP puts before it when it tries the types of a union.
    """
    if type(error).__name__ == "ConfigurationError" or not error.args:
        return str(error)
    return str(error.args[-1])


def causes(error: BaseException) -> Iterator[BaseException]:
    """`error` and the errors it was raised from, the outermost first."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__


def _jsonnet_line(message: str) -> str:
    """The problem in a Jsonnet error, and its position unless the problem includes it."""
    first, _, stack = message.partition("\n")
    for prefix in JSONNET_PREFIXES:
        first = first.removeprefix(prefix)
    position = stack.partition("\n")[0].strip().partition("\t")[0]
    if not position:
        return first
    return f"{first} (at {position})"


def _os_error_line(error: OSError) -> str | None:
    """The file and the problem; `None` if no file of the user is concerned."""
    if error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EROFS, errno.EDQUOT):
        return f"writing failed: {error.strerror}"
    if isinstance(error, FileNotFoundError) and error.args:
        return str(error.args[-1])
    return None


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The most similar known name; `None` if no name is similar."""
    lowered = {candidate.lower(): candidate for candidate in known}
    found = difflib.get_close_matches(name.lower(), lowered, n=1)
    if not found:
        return None
    return lowered[found[0]]
