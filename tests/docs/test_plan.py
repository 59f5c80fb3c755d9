"""The tables of docs/results/scale.md are what benchmarks/plan.py prints."""

import subprocess
import sys

import pytest

from tests.tiny import ROOT


@pytest.mark.slow
def test_the_plan_is_what_the_script_prints() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/plan.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    page = (ROOT / "docs/results/scale.md").read_text("utf-8")
    for table in done.stdout.strip().split("\n\n"):
        assert table in page
