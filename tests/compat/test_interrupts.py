"""An interrupted training: its report, its exit status, and that the reported command resumes it."""

import json
import logging
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands import main
from allennlp.common.util import SigTermReceived

from elmo_tasks import settings
from elmo_tasks.training.trainer import ResumableTrainer
from tests.pretraining import toy
from tests.test_configs import FOLDER

OVERRIDES = {
    "model.encoder.hidden_sizes": [5, 4],
    "data_loader.batch_sampler.batch_size": 1,
    "trainer.num_epochs": 3,
    "trainer.checkpointer.save_every_num_batches": 2,
}

STEPS = 3
"""In an epoch."""

Start = Callable[..., list[str]]


def interrupt_at(monkeypatch: pytest.MonkeyPatch, method: str, call: int, error: type[BaseException]) -> None:
    original, calls = getattr(ResumableTrainer, method), 0

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return original(*arguments, **options)

    monkeypatch.setattr(ResumableTrainer, method, counted)


@pytest.fixture
def start(mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Start:
    """Runs a command with the exception hook; returns the lines on stderr and the exit status."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ELMO_TASKS_TRACEBACK", raising=False)
    monkeypatch.delenv(settings.DEFAULT_VARIABLE, raising=False)

    def run(*command: str) -> list[str]:
        status: object = 0
        with toy.own_terminal(*command):
            try:
                main(prog="allennlp")
            except BaseException as error:
                logging.getLogger().handlers[-1].flush()
                capsys.readouterr()
                with pytest.raises(SystemExit) as stopped:
                    sys.excepthook(type(error), error, None)
                status = stopped.value.code
        return [*capsys.readouterr().err.splitlines(), str(status)]

    return run


COMMAND = ("train", str(FOLDER / "ner.jsonnet"), "-s", "run", "-o", json.dumps(OVERRIDES), "--force")


def resumed(line: str) -> list[str]:
    """The arguments of the command in a line `to resume: ...`."""
    assignment, program, *arguments = shlex.split(line.partition(": ")[2])
    assert re.fullmatch("ELMO_TASKS_DATA=.*/data\\d", assignment) and program == "allennlp"
    return arguments


@pytest.mark.parametrize(
    ("error", "step", "report", "status"),
    [
        (
            KeyboardInterrupt,
            STEPS + 3,
            [
                "interrupted after 1 of 3 epochs and 2 steps of the next",
                "last checkpoint: run/model_state_e1_b2.th",
                "best epoch so far: run/model.tar.gz",
            ],
            "130",
        ),
        (SigTermReceived, 2, ["interrupted after 0 of 3 epochs and 1 step of the next", "no checkpoint yet"], "143"),
    ],
)
def test_report_and_resumption(
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
    step: int,
    report: list[str],
    status: str,
) -> None:
    with monkeypatch.context() as trap:
        interrupt_at(trap, "rescale_gradients", step, error)
        *lines, command, code = start(*COMMAND)
    assert (lines, code) == (report, status)
    assert not [path for path in Path("run").iterdir() if path.suffix == ".tmp"]
    assert resumed(command) == [*COMMAND[:-1], "--recover"]
    if step > STEPS:
        assert start(*resumed(command))[-1] == "0"
        assert json.loads(Path("run/metrics.json").read_text())["epoch"] == 2
