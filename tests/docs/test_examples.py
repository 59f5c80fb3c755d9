"""
Every shell and Python block of README and docs/ runs, page by page, in order, in a fresh folder, on a small data root.

A block that cannot run here says why in its info string: "```bash no-run: needs the paper's corpora".
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.tiny import FIXTURES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MEASUREMENTS = {"RESULTS.md", "PERFORMANCE.md", "RELIABILITY.md"}
"""Pages of measurements: their commands take hours."""

SHORTER = "+ { trainer+: { num_epochs: 1 } }"
FEWER_STEPS = "+ { data_loader+: { steps_per_epoch: 10 } }"
"""What the pages' trainings at scale mini get: they show commands, not scores."""

FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NO_RUN = re.compile(r"(bash|python) no-run: \S+.*")


class Block(NamedTuple):
    info: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(found["info"], found["text"], text.count("\n", 0, found.start()) + 1) for found in FENCE.finditer(text)
    ]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_blocks_run_or_give_a_reason(page: Path) -> None:
    allowed = {"", "bash", "python", "jsonnet", "json"}
    unknown = [
        (block.line, block.info)
        for block in blocks_of(page)
        if block.info not in allowed and not NO_RUN.fullmatch(block.info)
    ]
    assert unknown == []


@pytest.fixture(scope="module")
def data_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The synthetic corpus, each file cut to its first units; a training takes seconds."""
    root = tmp_path_factory.mktemp("data")
    for source in sorted((FIXTURES / "miniworld").rglob("*")):
        if source.is_file():
            target = root / source.relative_to(FIXTURES / "miniworld")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(cut(source))
    return root


def cut(file: Path) -> bytes:
    """The first part of a corpus file, ending at the end of a sentence or document."""
    if file.parent.name == "ner":
        return b"\n\n".join(file.read_bytes().split(b"\n\n")[:24]) + b"\n\n"
    if file.parent.name in ("snli", "sst", "lm"):
        return b"".join(file.read_bytes().splitlines(keepends=True)[:200])
    return file.read_bytes()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, data_root: Path) -> Iterator[dict[str, str]]:
    """With `allennlp`, `elmo-tasks` and `python` on the path, which run in forks of a server."""
    folder = tmp_path_factory.mktemp("bin")
    for name in ("allennlp", "elmo-tasks", "python"):
        shim = folder / name
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} -SE {ROOT}/tests/docs/client.py {name} "$@"\n')
        shim.chmod(0o755)
    address = str(folder / "socket")
    plain = {key: value for key, value in os.environ.items() if not key.startswith("ELMO_TASKS")}
    variables = plain | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COMMAND_SERVER": address,
        "ELMO_TASKS_DATA": str(data_root),
        "OMP_NUM_THREADS": "1",
    }
    server = subprocess.Popen([sys.executable, "-m", "tests.docs.server", address], cwd=ROOT, env=variables)
    while not Path(address).exists() and server.poll() is None:
        time.sleep(0.1)
    yield variables
    server.terminate()
    server.wait()


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in MEASUREMENTS], ids=lambda page: page.name)
def test_examples(page: Path, environment: dict[str, str], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "training_config", tmp_path / "training_config")
    for config in (tmp_path / "training_config" / "mini").iterdir():
        fewer_steps = FEWER_STEPS if config.name == "bilm.jsonnet" else ""
        config.write_text(config.read_text() + SHORTER + fewer_steps)
    (tmp_path / "fixtures").mkdir()
    for path in FIXTURES.iterdir():
        target = environment["ELMO_TASKS_DATA"] if path.name == "miniworld" else path
        (tmp_path / "fixtures" / path.name).symlink_to(target)
    for number, block in enumerate(block for block in blocks_of(page) if block.info in ("bash", "python")):
        command = ["bash", "-euo", "pipefail", "-c", block.text]
        if block.info == "python":
            file = tmp_path / f"block{number}.py"
            file.write_text(block.text)
            command = ["python", file.name]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, (
            f"{page.name}:{block.line}:\n{block.text}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
