"""All models on a device that is not the CPU: nothing is left behind there, and the results are the CPU's."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.nn.util import move_to_device

from elmo_tasks.tasks import TASKS
from tests import models
from tests.gpu.pretend import needs_pretended_gpu, on_pretended_gpu
from tests.models import make_model, tensors

pytestmark = needs_pretended_gpu

PLACES: list[dict[str, Any] | None] = [None, {"at": "both", "layer_norm": "sentence"}]


def losses(
    task: str, folder: Path, elmo: dict[str, Any] | None, device: torch.device
) -> list[float]:
    """Of three training steps without dropout, and then in evaluation mode."""
    instances = models.corpus(task)[:4]
    model = make_model(task, instances, folder, elmo).to(device)
    for module in model.modules():
        if hasattr(module, "p") and isinstance(module.p, float):
            module.p = 0.0
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    batch = move_to_device(tensors(model.vocab, instances), device)
    found = []
    for _ in range(3):
        loss = model.train()(**batch)["loss"]
        found.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    output = model.eval()(**batch)
    found.append(output["loss"].item())
    model.make_output_human_readable(output)
    return found


@pytest.mark.parametrize("elmo", PLACES, ids=["without", "both"])
@pytest.mark.parametrize("task", TASKS)
def test_losses_are_those_of_the_cpu(
    task: str, elmo: dict[str, Any] | None, tmp_path: Path
) -> None:
    expected = losses(task, tmp_path, elmo, torch.device("cpu"))
    with on_pretended_gpu() as device:
        found = losses(task, tmp_path, elmo, device)
    assert found == pytest.approx(expected, rel=1e-4)
