"""What commands print besides their results: bars, messages, warnings and the log."""

import io
import logging
import os
import sys
from pathlib import Path

import pytest

from elmo_tasks.cli.main import run
from tests.cli.test_options import elmo_tasks


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "in.txt"
    file.write_text("New York\n\nMira saw it .\n")
    return file


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("is_terminal", [False, True])
@pytest.mark.parametrize(
    "line", ["elmo IN OUT", "static IN --output OUT --min-count 1"]
)
def test_bars_are_on_terminals_alone(
    line: str,
    is_terminal: bool,
    quiet: bool,
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stderr = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    words = line.replace("IN", str(text)).replace("OUT", f"{text}.out").split()
    elmo_tasks(*words, *(["--quiet"] if quiet else []))
    assert (" tokens" in stderr.getvalue()) == (is_terminal and not quiet)
    assert "in.txt.out: " in capsys.readouterr().out
    assert Path(f"{text}.out").stat().st_size > 0


@pytest.mark.parametrize(
    ("option", "level"),
    [("-q", logging.ERROR), ("-v", logging.INFO), (None, logging.WARNING)],
)
def test_levels_of_the_log(
    option: str | None,
    level: int,
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of this process, and of those that it starts."""
    monkeypatch.delenv("ALLENNLP_LOG_LEVEL", raising=False)
    logging.getLogger().setLevel(logging.WARNING)
    run(["elmo", str(text), f"{text}.out", *([option] if option else [])])
    name = None if option is None else logging.getLevelName(level)
    assert logging.getLogger().level == level
    assert os.environ.get("ALLENNLP_LOG_LEVEL") == name
