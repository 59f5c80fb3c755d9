"""What a type checker knows of `Elmo`, in a file of a user."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny import ROOT

USER = """
from typing import assert_type

from elmo_tasks import Elmo, WordSurprisal
from torch import Tensor

text = ["It ended ."]
elmo = Elmo.from_pretrained()
assert_type(elmo.words(text), list[list[str]])
assert_type(elmo(text).vectors, Tensor)
assert_type(WordSurprisal.from_pretrained().score(text)[0].end, float)
assert_type(elmo.dimension, str)  # wrong
"""


@pytest.mark.slow
def test_mypy_strict(tmp_path: Path) -> None:
    """The last line alone is wrong; what it says of this package does not count."""
    (tmp_path / "user.py").write_text(USER)
    options = ("--strict", "--cache-dir", str(tmp_path / "cache"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "user.py"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("user.py")]
    last = len(USER.splitlines())
    assert [line.split(": ")[0] for line in lines] == [f"user.py:{last}"], lines
