"""`elmo-tasks --print-completion`, in a shell."""

import subprocess
import sys
from pathlib import Path

import pytest

from elmo_tasks.cli.main import run
from elmo_tasks.errors import InputError

COMPLETE = """
source /dev/stdin
COMP_WORDS=("$@")
COMP_CWORD=$(( $# - 1 ))
_shtab_elmo_tasks
echo "${COMPREPLY[*]}"
"""
"""What bash does when the key is pressed after these words."""


@pytest.fixture
def script(capsys: pytest.CaptureFixture[str]) -> str:
    pytest.importorskip("shtab", reason="shtab is not installed: pip install shtab")
    run(["--print-completion", "bash"])
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["bi"], "bilm"),
        (["bilm", "per"], "perplexity"),
        (["bilm", "perplexity", "--st"], "--state"),
        (["train", "ner", "--scale", ""], "mini small paper"),
        (["elmo", "senten"], "sentences.txt"),
        (["elmo", "--model", "senten"], "sentences.txt"),
    ],
)
def test_bash(words: list[str], expected: str, script: str, tmp_path: Path) -> None:
    (tmp_path / "sentences.txt").touch()
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", "elmo-tasks", *words],
        input=script,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert done.stdout.strip() == expected


def test_the_package_that_it_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(InputError, match="pip install shtab"):
        run(["--print-completion", "zsh"])
