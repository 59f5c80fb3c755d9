"""`elmo-tasks info`."""

import subprocess
import sys

import pytest
import torch

from elmo_tasks.resources import DATA_VARIABLE


@pytest.mark.slow
def test_info_names_versions_processor_and_data(tmp_path: object) -> None:
    command = [sys.executable, "-m", "elmo_tasks", "info"]
    done = subprocess.run(
        command,
        env={DATA_VARIABLE: str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        f"torch {torch.__version__}" in done.stdout
        and f"data: {tmp_path}" in done.stdout
    )
    assert torch.backends.cpu.get_cpu_capability() in done.stdout
