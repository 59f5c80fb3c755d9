"""Every config trains and evaluates on the device as on the CPU."""

from pathlib import Path

import pytest
import torch

from elmo_tasks import resources
from tests.gpu.runs import trained

CPU = torch.device("cpu")

NAMES = sorted(path.name for path in resources.configs_root().glob("*.jsonnet"))


@pytest.mark.parametrize("name", NAMES)
def test_two_steps_and_an_evaluation(
    name: str, configs: Path, tmp_path: Path, gpu: torch.device
) -> None:
    config, amp = configs / name, {"trainer.use_amp": True}
    expected = trained(config, tmp_path / "cpu", CPU)
    assert trained(config, tmp_path / "gpu", gpu) == pytest.approx(expected, rel=1e-4)
    found = trained(config, tmp_path / "amp", gpu, **amp)
    for loss in {"training_loss", "validation_loss"} & expected.keys():
        assert found[loss] == pytest.approx(expected[loss], rel=2e-2)
        assert found[loss] != expected[loss]  # it has computed with fewer bits
