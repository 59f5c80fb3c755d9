"""
The blocks of CONTRIBUTING.md run, in order, in a copy of the tree: a task without code,
and one with a new model.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.conftest import cut
from tests.docs.test_examples import blocks_of
from tests.tiny import FIXTURES, ROOT

pytestmark = pytest.mark.slow


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The copy, with the first sentences of the synthetic corpus."""
    for name in ("elmo_tasks", "training_config", "tests"):
        shutil.copytree(
            ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for source in FIXTURES.rglob("*"):
        target = tmp_path / "fixtures" / source.relative_to(FIXTURES)
        if source.is_file() and "generator" not in source.parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(
                cut(source)
            ) if "miniworld" in source.parts else target.symlink_to(source)
    return tmp_path


def test_contributing(tree: Path) -> None:
    folder = tree / "bin"
    folder.mkdir()
    for name, module in (("python", ""), ("elmo-tasks", "-m elmo_tasks")):
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
        (folder / name).chmod(0o755)
    plain = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("ELMO_TASKS")
    }
    environment = plain | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(tree),
        "OMP_NUM_THREADS": "1",
    }
    for block in blocks_of(ROOT / "CONTRIBUTING.md"):
        if block.info == "bash":
            command = ["bash", "-euo", "pipefail", "-c", block.text]
            done = subprocess.run(
                command,
                cwd=tree,
                env=environment,
                capture_output=True,
                text=True,
                timeout=1200,
            )
            assert done.returncode == 0, (
                f"line {block.line}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
            )
    assert "| Similarity" in (tree / "out/similarity/table.md").read_text()
