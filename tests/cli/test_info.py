"""`elmo-tasks info`."""

import subprocess
import sys

import pytest
import torch

from elmo_tasks.elmo.devices import cpu_products
from elmo_tasks.resources import DATA_VARIABLE
from tests.archives.make import STORED
from tests.test_flow import elmo_tasks


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
    assert f"vector units: {cpu_products()}" in done.stdout


def test_the_processor_line_says_what_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a CPU without VNNI, and without FBGEMM."""
    monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: False)
    if torch.cpu._is_avx2_supported():
        assert cpu_products().endswith(", int8 in 8 bits by FBGEMM")
    monkeypatch.setattr(torch._C, "_supported_qengines", list)
    assert cpu_products().endswith(", int8 in float32")
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict, raising=False)
    assert cpu_products().startswith("unknown; ")


def test_info_names_the_predictor_of_an_archive(
    capsys: pytest.CaptureFixture[str],
) -> None:
    elmo_tasks("info", STORED / "1/ner.tar.gz")
    assert "predictor: elmo_tasks_ner\n" in capsys.readouterr().out
