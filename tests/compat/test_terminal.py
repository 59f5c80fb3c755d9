"""One line per error of the user, and the first lines of a training."""

import logging
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from allennlp.common import logging as allennlp_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import with_overrides
from allennlp.common.util import SigTermReceived
from torch.multiprocessing.spawn import ProcessRaisedException

from elmo_tasks.compat import terminal
from elmo_tasks.errors import InputError
from tests.disk import file_size_limit


def jsonnet_error(text: str) -> RuntimeError:
    return RuntimeError(text + "\n\tlib/data.libsonnet:3:5-9\tthunk <x>\n\tDuring manifestation\t\n")


def chain(error: Exception, cause: Exception) -> Exception:
    cause.args = ("While constructing an argument of type X", *cause.args)
    error.__cause__ = cause
    return error


def of_unknown_overrides() -> Exception:
    with pytest.raises(ValueError) as raised:
        with_overrides({"a": {}}, {"a.b": 1, "d.e": 2})
    return raised.value


def in_a_worker(error: Exception) -> Exception:
    """As `torch.multiprocessing` raises it for a process of a distributed training."""
    trace = "".join(traceback.format_exception(error))
    return ProcessRaisedException(f"\n\n-- Process 1 terminated with the following error:\n{trace}", 1, 4711)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("expected 4 columns", file="a.txt", line=3), "a.txt:3: expected 4 columns"),
        (chain(ConfigurationError("outer"), InputError("inner")), "inner"),
        (chain(ConfigurationError("outer"), TypeError("inner")), "outer; inner"),
        (FileNotFoundError(2, "No such file", "x.json"), "x.json: No such file"),
        (OSError(28, "No space left on device"), "writing failed: No space left on device"),
        (in_a_worker(chain(ConfigurationError("outer"), InputError("inner"))), "inner"),
        (jsonnet_error("RUNTIME ERROR: set it"), "set it (at lib/data.libsonnet:3:5-9)"),
        (of_unknown_overrides(), "the overrides (-o) change keys that the config does not have: ['d.e']"),
        (RuntimeError("PytorchStreamWriter failed"), "a checkpoint could not be written (is the disk full?): "
         "PytorchStreamWriter failed"),
        (ConnectionError("x"), None),
        (in_a_worker(ValueError("x")), None),
    ],
)  # fmt: skip
def test_errors_of_the_user_are_one_line(error: Exception, line: str | None) -> None:
    assert terminal.one_line(error) == line


@pytest.fixture
def untouched_logging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(logging, "raiseExceptions", True)
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_training_logs_its_settings_and_keeps_the_hook(
    untouched_logging: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ELMO_TASKS_TRACEBACK", raising=False)
    allennlp_logging.prepare_global_logging(str(tmp_path))
    sys.excepthook(InputError, InputError("no such column"), None)
    shown = capsys.readouterr()
    assert shown.err == "error: no such column\n"
    lines = shown.out.splitlines()
    assert [line.split(" - ")[3].split(":")[0] for line in lines] == ["scale", "data root"]
    log = (tmp_path / "out.log").read_text()
    assert "scale: mini" in log and "elmo_tasks.errors.InputError: no such column" in log


def test_environment_variable_shows_tracebacks(
    untouched_logging: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.install_exception_hook()
    monkeypatch.setenv("ELMO_TASKS_TRACEBACK", "1")
    sys.excepthook(InputError, InputError("no such column"), None)
    assert capsys.readouterr().err == "elmo_tasks.errors.InputError: no such column\n"


def test_log_on_a_full_disk(untouched_logging: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allennlp_logging.prepare_global_logging(str(tmp_path))
    with file_size_limit(0):
        logging.getLogger("elmo_tasks").info("one more line")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (SigTermReceived, 143)])
@pytest.mark.parametrize("command", ["train", "probe"])
def test_interrupt(
    untouched_logging: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
    status: int,
    command: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["allennlp", command])
    terminal.install_exception_hook()
    with pytest.raises(SystemExit) as stopped:
        sys.excepthook(error, error(), None)
    shown = capsys.readouterr().err
    assert stopped.value.code == status and not issubclass(error, Exception)
    assert shown.startswith("interrupted") and ("--recover" in shown) == (command == "train")
