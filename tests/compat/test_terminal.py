"""One line per error of the user, and the first lines of a training."""

import io
import logging
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from allennlp.common import logging as allennlp_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.params import with_overrides
from torch.multiprocessing.spawn import ProcessRaisedException

from elmo_tasks.compat import terminal
from elmo_tasks.errors import InputError


def jsonnet_error(text: str) -> RuntimeError:
    return RuntimeError(text + "\n\tlib/data.libsonnet:3:5-9\tthunk <x>\n\tDuring manifestation\t\n")


def chain(error: Exception, cause: Exception) -> Exception:
    cause.args = ("While constructing an argument of type X", *cause.args)
    error.__cause__ = cause
    return error


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
        (FileNotFoundError("file x.json not found"), "file x.json not found"),
        (OSError(28, "No space left on device"), "writing failed: No space left on device"),
        (in_a_worker(InputError("expected 4 columns", file="a.txt", line=3)), "a.txt:3: expected 4 columns"),
        (in_a_worker(chain(ConfigurationError("outer"), InputError("inner"))), "inner"),
        (jsonnet_error("RUNTIME ERROR: set it"), "set it (at lib/data.libsonnet:3:5-9)"),
        (RuntimeError("STATIC ERROR: a.jsonnet:1:2: Unknown variable: b\n"), None),
        (RuntimeError("PytorchStreamWriter failed writing file"), None),
    ],
)
def test_errors_of_the_user(error: Exception, line: str | None) -> None:
    shown = terminal.one_line(error)
    assert shown is not None and "\n" not in shown
    assert line is None or shown == line


def test_overrides_of_unknown_keys() -> None:
    with pytest.raises(ValueError) as raised:
        with_overrides({"a": {}}, {"a.b": 1, "d.e": 2})
    line = terminal.one_line(raised.value)
    assert line == "the overrides (-o) change keys that the config does not have: ['d.e']"


@pytest.mark.parametrize(
    "error", [ValueError("x"), RuntimeError("x"), ConnectionError("x"), in_a_worker(ValueError("x"))]
)
def test_other_errors_keep_their_traceback(error: Exception) -> None:
    assert terminal.one_line(error) is None


@pytest.fixture
def untouched_logging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
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


class FullDisk(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def test_log_on_a_full_disk(untouched_logging: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    allennlp_logging.prepare_global_logging(str(tmp_path))
    files = [h for h in logging.getLogger().handlers if isinstance(h, logging.FileHandler)]
    assert len(files) == 1
    files[0].setStream(FullDisk()).close()
    logging.getLogger("elmo_tasks").info("one more line")
    assert capsys.readouterr().err == ""
