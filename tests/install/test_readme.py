"""
README's commands, as they are written, in fresh environments: `make test-install`.

They run in a copy of the checkout whose corpora and trainings are short. Its `make`
commands are those that .ci/run begins with.
"""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.short import cut, shorten
from tests.docs.test_examples import Block, blocks_of
from tests.tiny import ROOT

README = ROOT / "README.md"
TRAIN = "allennlp train training_config/squad_elmo.jsonnet"
ELSEWHERE = "--include-package elmo_tasks.plugin"
"""What README lets the user add to the command in another folder."""

VERSION = re.compile(r"Python :: (3\.\d+)$")


def pythons() -> list[str]:
    """The interpreters of this machine that the project supports, the oldest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = []
    for classifier in project["classifiers"]:
        version = VERSION.search(classifier)
        if version is not None:
            found += interpreters(version[1])[:1]
    return found


def interpreters(version: str) -> list[str]:
    """Those of a version that work; pyenv has commands of versions that are off."""
    candidates = [f"python{version}"]
    for path in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")):
        candidates.append(str(path))
    found = []
    for candidate in candidates:
        path = shutil.which(candidate)
        if path is None:
            continue
        done = subprocess.run([path, "-c", "import ensurepip"], capture_output=True)
        if done.returncode == 0:
            found.append(path)
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what git has, or would add, of this checkout."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    folder = tmp_path / "checkout"
    for name in listed.stdout.decode().split("\0"):
        source = ROOT / name
        if not source.is_file():
            continue
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        if name.startswith("fixtures/miniworld/"):
            target.write_bytes(cut(source))
    shorten(folder / "training_config")
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Path]:
    """The folder of an environment, which has gigabytes and is removed at the end."""
    folder = tmp_path / "environment"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def commands_of(tool: str) -> list[Block]:
    """README's blocks in order, with the installation by one tool."""
    chosen = []
    for block in blocks_of(README):
        if block.text.startswith("make "):
            continue
        installs = "pip install" in block.text
        if installs and ("uv pip" in block.text) != (tool == "uv"):
            continue
        chosen.append(block)
    return chosen


def run(command: list[str], folder: Path, variables: dict[str, str]) -> str:
    """What a command prints; if it fails, the test fails with the end of it."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    shown = done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode == 0, f"{command[-1]}\n{shown}"
    return done.stdout


@pytest.mark.parametrize("age", [0, -1], ids=["oldest", "newest"])
@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_commands_run_as_written(
    tool: str, age: int, checkout: Path, environment: Path, tmp_path: Path
) -> None:
    python = pythons()[age]
    variables = {"OMP_NUM_THREADS": "1", "VIRTUAL_ENV": str(environment)}
    for name, value in os.environ.items():
        if not name.startswith(("ELMO_TASKS", "PYTHON", "VIRTUAL_ENV")):
            variables.setdefault(name, value)
    make = [python, "-m", "venv", str(environment)]
    if tool == "uv":
        make = ["uv", "venv", "--quiet", "--python", python, str(environment)]
    run(make, tmp_path, variables)
    variables["PATH"] = f"{environment / 'bin'}:{os.environ['PATH']}"

    printed = ""
    ran = []
    for block in commands_of(tool):
        kind = block.info.partition(" ")[0]
        if kind == "bash":
            command = ["bash", "-euo", "pipefail", "-c", block.text]
            printed = run(command, checkout, variables)
            ran.append(block.text)
        elif kind == "python":
            printed = run(["python", "-c", block.text], checkout, variables)
        elif block.text.startswith("("):
            assert printed == block.text
    assert f"{TRAIN} -s out/squad_elmo\n" in ran
    assert (checkout / "out/squad_elmo/model.tar.gz").is_file()

    assert f"`{ELSEWHERE}`" in README.read_text("utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    train = TRAIN.replace("training_config", str(checkout / "training_config"))
    command = f"{train} -s out {ELSEWHERE} --dry-run"
    run(["bash", "-c", command], elsewhere, variables)
    assert (elsewhere / "out/vocabulary/tokens.txt").is_file()
