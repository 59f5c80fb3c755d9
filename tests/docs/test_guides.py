"""What the guide on surprisal shows is what its blocks print."""

import subprocess
from pathlib import Path

import pytest

from tests.docs.test_examples import blocks_of
from tests.tiny import ROOT

pytestmark = pytest.mark.slow


def test_blocks_print_what_is_shown(
    environment: dict[str, str], tmp_path: Path
) -> None:
    compared = 0
    printed = ""
    for number, block in enumerate(blocks_of(ROOT / "docs/SURPRISAL.md")):
        if block.info == "":
            assert printed == block.text, f"SURPRISAL.md:{block.line}"
            compared += 1
        elif block.info in ("bash", "python"):
            command = ["bash", "-euo", "pipefail", "-c", block.text]
            if block.info == "python":
                (tmp_path / f"block{number}.py").write_text(block.text, "utf-8")
                command = ["python", f"block{number}.py"]
            done = subprocess.run(
                command, cwd=tmp_path, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr[-3000:]
            printed = done.stdout
    assert compared == 4
