"""
The lines of docs/EXTENDING.md for a task of this package, in a copy of the checkout:
the new task trains and predicts, and all quick tests that know tasks pass with it.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.short import SHORTER
from tests.docs.test_examples import blocks_of
from tests.system import output_of
from tests.tiny import ROOT

pytestmark = pytest.mark.slow

LEFT_OUT = (".git", ".venv", ".*_cache", ".hypothesis", "__pycache__", "build", "out")
KNOWS_TASKS = re.compile(r"import .*\bTASKS\b|\"task\", SAMPLES\)")
OF_ALL_FILES = [
    "tests/test_configs.py",
    "tests/tables/test_table.py",
    "tests/docs/test_generated.py",
    "tests/docs/test_reference.py",
    "tests/docs/test_pages.py",
]
"""Tests of all configs, tables and pages."""

PROGRAMS = """
python() { PYTHON "$@"; }
elmo-tasks() { PYTHON -m elmo_tasks "$@"; }
""".replace("PYTHON", sys.executable)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    return folder


def run(text: str, checkout: Path) -> None:
    variables = {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    command = ["bash", "-euo", "pipefail", "-c", PROGRAMS + text]
    output_of(command, checkout, os.environ | variables)


def fill_in(file: Path, text: str, by: str) -> None:
    content = file.read_text("utf-8")
    assert text in content
    file.write_text(content.replace(text, by, 1), "utf-8")


def test_a_new_task(checkout: Path) -> None:
    texts = [block.text for block in blocks_of(ROOT / "docs/EXTENDING.md")]
    (block,) = [text for text in texts if "docs/new_task/create.sh" in text]
    create, *commands = block.splitlines()
    shorter = f"echo '{SHORTER}' | tee --append training_config/topics*.jsonnet"
    run(f"{create}\n{shorter}", checkout)
    record = checkout / "elmo_tasks/tasks/topics/__init__.py"
    fill_in(record, 'title="topics"', 'title="Topics"')
    demo = "| `demo` |"
    row = "| `topics` |  | topics | 0 | 0 |\n"
    fill_in(checkout / "docs/TABLES.md", demo, row + demo)
    run("\n".join([*commands, "python -m docs.generate"]), checkout)
    assert "| Topics " in (checkout / "out/topics_table/table.md").read_text()
    tests = list(OF_ALL_FILES)
    for file in sorted((checkout / "tests").rglob("test_*.py")):
        if "gpu" not in file.parts and KNOWS_TASKS.search(file.read_text()):
            tests.append(str(file.relative_to(checkout)))
    assert len(tests) > 15
    others = "not (squad or snli or srl or coref or sst)"  # cases that are as before
    options = f"-q -p no:cacheprovider -m 'not slow' -k '{others}'"
    run(f"python -m pytest {options} {' '.join(tests)}", checkout)
