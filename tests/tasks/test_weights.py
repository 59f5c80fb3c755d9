"""The state of a model with ELMo is tensors by name, as other people's loops expect."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.models import corpus, make_model
from tests.tiny import SAMPLES


def averaged(files: list[Path]) -> dict[str, Tensor]:
    """The mean of the weights in several files, as one writes it in a notebook."""
    total: dict[str, Tensor] = {}
    for file in files:
        for name, value in torch.load(file).items():
            total[name] = total.get(name, 0) + value.float() / len(files)
    return total


@pytest.mark.parametrize("archive", [False, True])
@pytest.mark.parametrize("task", SAMPLES)
def test_weights_can_be_averaged_and_written_by_others(
    task: str, archive: bool, tmp_path: Path
) -> None:
    elmo = {"at": "both", "archive": archive}
    model = make_model(task, corpus(task), tmp_path / "bilm", elmo)
    for name, value in model.state_dict().items():
        assert isinstance(value, Tensor), name
    files = [tmp_path / "a.th", tmp_path / "b.th"]
    for file in files:
        torch.save(model.state_dict(), file)
        for parameter in model.parameters():
            parameter.data += 1
    first = torch.load(files[0])
    mean = averaged(files)
    model.load_state_dict(mean)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.data, first[name] + 0.5)
    save_file(
        {name: value.contiguous() for name, value in mean.items()}, tmp_path / "s"
    )
    assert load_file(tmp_path / "s").keys() == mean.keys()
