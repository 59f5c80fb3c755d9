"""
Every shell and Python block of README and docs/ runs, page by page, in order, in a
fresh folder, on a small data root.

A block that cannot run here says why in its info string: "```bash no-run: needs the
paper's corpora".
"""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.docs.short import shorten
from tests.system import output_of
from tests.tiny import FIXTURES, ROOT

pytestmark = pytest.mark.slow

PAGES = [ROOT / "README.md"] + sorted((ROOT / "docs").glob("*.md"))
MEASUREMENTS = {"RESULTS.md", "PERFORMANCE.md"}
"""Pages of measurements: their commands take hours; so do those of docs/results/."""

SHOWN = {"two-minutes.md": 1, "when-to-use.md": 1, "SURPRISAL.md": 3}
"""Pages that show what their blocks print, in as many blocks."""

FENCE = re.compile(
    r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    info: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    blocks = []
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        blocks.append(Block(found["info"], found["text"], line))
    return blocks


def by_file(text: str, configs: Path) -> str:
    """A config that a command names is that of a folder, which is shortened."""
    names = "|".join(path.stem for path in configs.glob("*.jsonnet"))
    by_name = rf"(elmo-tasks train |config: ')({names})(?![\w.])"
    return re.sub(by_name, r"\1training_config/\2.jsonnet", text)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in MEASUREMENTS],
    ids=lambda page: page.name,
)
def test_examples(page: Path, environment: dict[str, str], tmp_path: Path) -> None:
    configs = tmp_path / "training_config"
    shutil.copytree(ROOT / "training_config", configs)
    shorten(configs)
    (tmp_path / "fixtures").mkdir()
    for path in FIXTURES.iterdir():
        (tmp_path / "fixtures" / path.name).symlink_to(path)
    corpora = tmp_path / "fixtures" / "miniworld"
    corpora.unlink()
    corpora.symlink_to(environment["ELMO_TASKS_DATA"])
    shown = 0
    printed = ""
    for number, block in enumerate(blocks_of(page)):
        if block.info == "" and page.name in SHOWN:
            assert printed == block.text, f"{page.name}:{block.line}"
            shown += 1
        if block.info not in ("bash", "python"):
            continue
        command = ["bash", "-euo", "pipefail", "-c", by_file(block.text, configs)]
        if block.info == "python":
            file = tmp_path / f"block{number}.py"
            file.write_text(block.text)
            command = ["python", file.name]
        printed = output_of(command, tmp_path, environment)
    assert shown == SHOWN.get(page.name, 0)
