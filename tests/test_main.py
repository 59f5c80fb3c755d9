"""One line per error of the user, interruptions, and what a training prints."""

import io
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.logging import prepare_global_logging
from allennlp.common.params import with_overrides
from allennlp.common.tqdm import logger as allennlp_progress
from torch.multiprocessing.spawn import ProcessRaisedException

from elmo_tasks.cli import main as __main__
from elmo_tasks.errors import InputError, one_line
from elmo_tasks.training.reports.logs import logged
from tests.disk import file_size_limit


def jsonnet_error(text: str) -> RuntimeError:
    return RuntimeError(
        text + "\n\tlib/data.libsonnet:3:5-9\tthunk <x>\n\tDuring manifestation\t\n"
    )


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
    return ProcessRaisedException(
        f"\n\n-- Process 1 terminated with the following error:\n{trace}", 1, 4711
    )


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            InputError("expected 4 columns", file="a.txt", line=3),
            "a.txt:3: expected 4 columns",
        ),
        (chain(ConfigurationError("outer"), InputError("inner")), "inner"),
        (chain(ConfigurationError("outer"), TypeError("inner")), "outer; inner"),
        (FileNotFoundError(2, "No such file", "x.json"), "x.json: No such file"),
        (in_a_worker(chain(ConfigurationError("outer"), InputError("inner"))), "inner"),
        (
            jsonnet_error("RUNTIME ERROR: set it"),
            "set it (at lib/data.libsonnet:3:5-9)",
        ),
        (
            of_unknown_overrides(),
            "the overrides (-o) change keys that the config does not have: ['d.e']",
        ),
        (
            OSError(28, "No space left on device", "out/best.th"),
            "out/best.th: No space left on device",
        ),
        (
            OSError(28, "No space left on device"),
            "writing failed: No space left on device",
        ),
        (
            RuntimeError(
                "[enforce fail at inline_container.cc:668] . unexpected pos 64"
            ),
            "a checkpoint could not be written (is the disk full?): "
            "[enforce fail at inline_container.cc:668] . unexpected pos 64",
        ),
        (
            ValueError("nan loss encountered"),
            "the loss is NaN (lower the learning rate, set trainer.grad_norm or"
            " grad_clipping, and check that the biLM's weights are trained)",
        ),
        (ConnectionError("x"), None),
    ],
)
def test_errors_of_the_user_are_one_line(error: Exception, line: str | None) -> None:
    assert one_line(error) == line


@pytest.fixture(autouse=True)
def own_signals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.delenv("ELMO_TASKS_TRACEBACK", raising=False)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


class Signalling(io.StringIO):
    """A standard output at whose first line this process is sent a signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def write(self, text: str) -> int:
        signal.raise_signal(self.number)
        return super().write(text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupt(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("a signal that is ignored, as with nohup, stays so")
    monkeypatch.setattr(sys, "stdout", Signalling(number))
    with pytest.raises(SystemExit) as stopped:
        __main__.main(["models"])
    assert (
        stopped.value.code == 128 + number
        and capsys.readouterr().err == "\ninterrupted\n"
    )


def test_error_of_the_user_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["elmo", str(tmp_path / "gone.txt"), str(tmp_path / "out")]
    with pytest.raises(SystemExit, match=r"^error: .*gone\.txt: no such file .*$"):
        __main__.main(arguments)
    monkeypatch.setenv("ELMO_TASKS_TRACEBACK", "1")
    with pytest.raises(InputError):
        __main__.main(arguments)


@pytest.mark.parametrize(
    ("package", "problem"),
    [
        ("nowhere.at_all", "error: package nowhere.at_all not found (start in"),
        ("own", "error: ImportError: cannot import name 'Old' from 'allennlp.data' ("),
    ],
)
def test_errors_of_own_packages(
    package: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line, with that of the user's own code."""
    (tmp_path / "own.py").write_text("\nfrom allennlp.data import Old\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        __main__.main(["check", "ner", "--include-package", package])
    assert str(ended.value).startswith(problem)
    assert package != "own" or str(ended.value).endswith("own.py:2)")


def test_log_on_a_full_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with logged(tmp_path, print), file_size_limit(0):
        logging.getLogger("elmo_tasks").info("one more line")
    assert capsys.readouterr() == ("one more line\n", "")


def test_what_a_training_reports_and_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLENNLP_LOG_LEVEL", "INFO")
    reported: list[str] = []
    for report in (None, reported.append):
        with logged(tmp_path, report):
            logging.getLogger("elmo_tasks.x").info("ours")
            logging.getLogger("allennlp.x").info("theirs")
    assert reported == ["ours"]
    assert capsys.readouterr().out == ""
    lines = (tmp_path / "out.log").read_text().splitlines()
    assert [line.rpartition(" - ")[2] for line in lines] == ["ours", "theirs"] * 2


def process_state() -> list[object]:
    """What a training could leave changed for whatever runs next in its process."""
    root = logging.getLogger()
    loggers = [
        root,
        allennlp_progress,
        *map(logging.getLogger, ("allennlp", "elmo_tasks")),
    ]
    handlers = [handler for one in loggers for handler in one.handlers]
    return [
        *((one.level, list(one.handlers)) for one in loggers),
        *(handler.level for handler in handlers),
        (os.environ.get("ALLENNLP_LOG_LEVEL"), sys.excepthook),
    ]


@pytest.mark.parametrize("level", [None, "ERROR", "DEBUG"])
@pytest.mark.parametrize("fails", [False, True])
def test_a_training_leaves_the_logging_as_it_was(
    fails: bool, level: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ALLENNLP_LOG_LEVEL", raising=False)
    if level is not None:
        monkeypatch.setenv("ALLENNLP_LOG_LEVEL", level)
    own = logging.NullHandler()
    own.setLevel(logging.DEBUG)
    logging.getLogger().addHandler(own)
    before = process_state()
    with suppress(ZeroDivisionError), logged(tmp_path, print):
        prepare_global_logging(tmp_path)  # as AllenNLP's training
        logging.getLogger().error("heard")
        assert process_state() != before
        if fails:
            raise ZeroDivisionError
    assert process_state() == before
    text = (tmp_path / "out.log").read_text()
    assert "heard" in text and ("Traceback" in text) == fails


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "10000"),
        ({"GOMP_SPINCOUNT": "7"}, "7"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, None),
    ],
)
def test_threads_of_a_training_sleep_unless_the_user_has_chosen(
    given: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.setenv(name, "")  # which is put back at the end
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError):
        __main__.run(["train", "no_such_config", "-s", "out"])
    assert os.environ.get("GOMP_SPINCOUNT") == expected


@pytest.mark.parametrize(("given", "threads"), [(None, 1), ("2", 3)])
def test_the_bundled_corpus_is_trained_by_one_thread(
    given: str | None, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", given or "")
    if given is None:
        monkeypatch.delenv("OMP_NUM_THREADS")
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with pytest.raises(InputError, match="expected the folder of a run"):
            __main__.run(["train", "ner", "-s", str(tmp_path / "out"), "--recover"])
        assert torch.get_num_threads() == threads
        assert os.environ["OMP_NUM_THREADS"] == (given or "1")  # of other processes
    finally:
        torch.set_num_threads(before)
