"""
README's commands, as they are written, in fresh environments, from the wheel and far
from the checkout: `make test-install`.

The wheel is made of a copy of the checkout whose corpora and trainings are short. Its
`make` commands are in .ci/run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.docs.short import cut, shorten
from tests.docs.test_examples import Block, blocks_of
from tests.system import output_of
from tests.tiny import ROOT

README = ROOT / "README.md"
TRAIN = "allennlp train training_config/squad_elmo.jsonnet"
CONFIGS = "elmo-tasks configs --copy training_config"
ELSEWHERE = "--include-package elmo_tasks.plugin"
"""What README lets the user add to the command outside a checkout."""

NO_TORCHVISION = "python -m elmo_tasks.host"
"""AllenNLP's program where there is no torchvision for a build of PyTorch."""

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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of what git has, or would add, of this checkout."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    folder = tmp_path_factory.mktemp("checkout")
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
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (built,) = folder.glob("dist/*.whl")
    return built


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Path]:
    """The folder of an environment, which has gigabytes and is removed at the end."""
    folder = tmp_path / "environment"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def commands_of(tool: str) -> Iterator[Block]:
    """README's blocks in order; outside a checkout, and with the installation by uv."""
    for block in blocks_of(README):
        if block.text.startswith("make "):
            continue
        text = block.text
        if tool == "uv":
            text = text.replace("pip install", "uv pip install")
        if TRAIN in text:
            text = f"{CONFIGS}\n{text.strip()} {ELSEWHERE}\n"
        yield block._replace(text=text)


@pytest.mark.parametrize("age", [0, -1], ids=["oldest", "newest"])
@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_commands_run_as_written(
    tool: str, age: int, wheel: Path, environment: Path, tmp_path: Path
) -> None:
    python = pythons()[age]
    variables = {"OMP_NUM_THREADS": "1", "VIRTUAL_ENV": str(environment)}
    for name, value in os.environ.items():
        if not name.startswith(("ELMO_TASKS", "PYTHON", "VIRTUAL_ENV")):
            variables.setdefault(name, value)
    for name in ("PIP_CONSTRAINT", "UV_CONSTRAINT"):
        variables[name] = str(ROOT / "requirements.txt")  # the tested versions
    make = [python, "-m", "venv", str(environment)]
    if tool == "uv":
        make = ["uv", "venv", "--quiet", "--python", python, str(environment)]
    output_of(make, tmp_path, variables)
    variables["PATH"] = f"{environment / 'bin'}:{os.environ['PATH']}"
    shutil.copy(wheel, tmp_path)
    for text in (f"`{CONFIGS}`", f"`{ELSEWHERE}`"):
        assert text in " ".join(README.read_text("utf-8").split())

    printed = ""
    for block in commands_of(tool):
        kind = block.info.partition(" ")[0]
        if kind == "bash":
            text = block.text.replace("allennlp train", f"{NO_TORCHVISION} train")
            command = ["bash", "-euo", "pipefail", "-c", text]
            printed = output_of(command, tmp_path, variables)
        elif kind == "python":
            printed = output_of(["python", "-c", block.text], tmp_path, variables)
        elif block.text.startswith("("):
            assert printed == block.text
    assert (tmp_path / "out/squad_elmo/model.tar.gz").is_file()
    scored = ["elmo-tasks", "evaluate", "out/both/model.tar.gz"]
    (gold,) = environment.glob("**/_files/fixtures/ner/eng.bio")
    assert "f1" in json.loads(output_of([*scored, str(gold)], tmp_path, variables))
    assert answer_of(tmp_path / "out/both/model.tar.gz", environment)["tags"]


def answer_of(archive: Path, environment: Path) -> dict[str, list[str]]:
    """What `elmo-tasks serve` predicts."""
    command = [str(environment / "bin/elmo-tasks"), "serve", f"ner={archive}"]
    command += ["--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"].rstrip("/")
        words = json.dumps({"sentence": "She came ."}).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(f"{url}/api/predict/ner", words, headers)
        with urlopen(request, timeout=60) as reply:
            answer: dict[str, list[str]] = json.load(reply)
        server.terminate()
    return answer
