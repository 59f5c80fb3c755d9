"""
Every shell and Python block of README and docs/ runs, page by page, in order, in a fresh folder, on a small data root.

A block that cannot run here says why in its info string: "```bash no-run: needs the paper's corpora".
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.tiny import FIXTURES, ROOT

pytestmark = pytest.mark.slow

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MEASUREMENTS = {"RESULTS.md", "PERFORMANCE.md", "RELIABILITY.md"}
"""Pages of measurements: their commands take hours."""

SHORTER = "+ { trainer+: { num_epochs: 1 } }"
FEWER_STEPS = "+ { data_loader+: { steps_per_epoch: 10 } }"
"""What the pages' trainings at scale mini get: they show commands, not scores."""

FENCE = re.compile(
    r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
NO_RUN = re.compile(r"(bash|python) no-run: \S+.*")


class Block(NamedTuple):
    info: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(found["info"], found["text"], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
    ]


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_blocks_run_or_give_a_reason(page: Path) -> None:
    allowed = {"", "bash", "python", "jsonnet", "json"}
    unknown = [
        (block.line, block.info)
        for block in blocks_of(page)
        if block.info not in allowed and not NO_RUN.fullmatch(block.info)
    ]
    assert unknown == []


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in MEASUREMENTS],
    ids=lambda page: page.name,
)
def test_examples(page: Path, environment: dict[str, str], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "training_config", tmp_path / "training_config")
    for config in (tmp_path / "training_config" / "mini").iterdir():
        fewer_steps = FEWER_STEPS if config.name == "bilm.jsonnet" else ""
        config.write_text(config.read_text() + SHORTER + fewer_steps)
    (tmp_path / "fixtures").mkdir()
    for path in FIXTURES.iterdir():
        target = environment["ELMO_TASKS_DATA"] if path.name == "miniworld" else path
        (tmp_path / "fixtures" / path.name).symlink_to(target)
    for number, block in enumerate(
        block for block in blocks_of(page) if block.info in ("bash", "python")
    ):
        command = ["bash", "-euo", "pipefail", "-c", block.text]
        if block.info == "python":
            file = tmp_path / f"block{number}.py"
            file.write_text(block.text)
            command = ["python", file.name]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=1200,
        )
        assert done.returncode == 0, (
            f"{page.name}:{block.line}:\n{block.text}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
