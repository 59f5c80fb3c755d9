"""Commands whose reader has ended, or whose output's encoding lacks characters."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BROKEN_PIPE = 128 + 13
MODULE = [sys.executable, "-m", "elmo_tasks"]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["models", "info"])
def test_a_reader_that_has_ended(arguments: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [*MODULE, *arguments.split()], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (BROKEN_PIPE, b"")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1251"])
def test_characters_that_stdout_lacks(encoding: str, tmp_path: Path) -> None:
    """The list of models has Bokmål, and names of files have any character."""
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    (tmp_path / "in.txt").write_text("She heard the play .\n")
    commands: list[list[str]] = [["models"]]
    for name in ("bokmål.hdf5", "文.hdf5", os.fsdecode(b"\xe5.hdf5")):
        commands.append(["elmo", str(tmp_path / "in.txt"), str(tmp_path / name)])
    for command in commands:
        subprocess.run(
            [*MODULE, *command], env=environment, stdout=subprocess.DEVNULL, check=True
        )
