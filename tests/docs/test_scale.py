"""The lines by which docs/TABLES.md starts a Ray cluster, and what runs on it."""

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_examples import blocks_of
from tests.system import output_of, require_path
from tests.tables.tables import row, write_table
from tests.test_flow import SMALLER
from tests.tiny import ROOT

pytestmark = pytest.mark.slow

COMMANDS = """
set -euo pipefail
ray() { PYTHON -m ray.scripts.scripts "$@"; }
elmo-tasks() { PYTHON -m elmo_tasks "$@"; }
""".replace("PYTHON", sys.executable)

LEFT_OUT = ("pip install", "ray stop")
"""Lines that would change, or end, what the test has not started."""


@pytest.fixture
def home() -> Iterator[Path]:
    """A home for Ray, whose sockets need short names. Its processes are ended."""
    require_path("/proc/self/environ")
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
        for process in Path("/proc").glob("[0-9]*"):
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"HOME={folder}".encode() in variables:
                os.kill(int(process.name), signal.SIGKILL)


def test_the_pages_lines(home: Path, tmp_path: Path) -> None:
    """What a table trains is equal to the bit to what a local call trains."""
    pytest.importorskip("ray")
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus/a.txt").write_text("She heard the play .\nIt ended .\n")
    short = {"dataset_reader.max_instances": 20, "trainer.num_epochs": 1}
    table = str(write_table(tmp_path, [row("baseline", changes=SMALLER | short)]))
    blocks = [block.text for block in blocks_of(ROOT / "docs/TABLES.md")]
    (block,) = [text for text in blocks if "ray start --head" in text]
    lines = [COMMANDS]
    for line in block.splitlines():
        if not line.startswith(LEFT_OUT):
            lines.append(line.replace("table1", table).replace("SHARED", "shared"))
    assert len(lines) == 6
    environment = {"HOME": str(home), "RAY_TMPDIR": str(home), "OMP_NUM_THREADS": "1"}
    for name in ("PATH", "LANG"):
        environment[name] = os.environ.get(name, "")
    output_of(["bash", "-c", "\n".join(lines)], tmp_path, environment)
    assert (tmp_path / "shared/vectors/a.txt.parquet").exists()
    local = [sys.executable, "-m", "elmo_tasks", "ablate", table, "-s", "local"]
    output_of(local, tmp_path, environment)
    curves = []
    for folder in ("shared", "local"):
        record = json.loads((tmp_path / folder / "results.jsonl").read_text())
        curves.append(record["curve"])
    assert curves[0] == curves[1] and curves[0][0]["training_loss"] > 0
