"""
All models on a GPU: nothing is left behind on the CPU, and the results are the CPU's.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models import Model
from allennlp.nn.util import move_to_device

from elmo_tasks.tasks import TASKS
from tests import models
from tests.gpu.runs import disable_dropout
from tests.models import make_model, tensors

BOTH = {"at": "both", "layer_norm": "sentence"}
PLACES: list[dict[str, Any] | None] = [None, BOTH]


def losses_of_both(
    task: str,
    folder: Path,
    elmo: dict[str, Any] | None,
    gpu: torch.device,
    *,
    count: int = 3,
) -> tuple[list[float], list[float]]:
    """On the GPU, and on the CPU."""
    if task == "squad":  # whose passages are long
        count = 1
    instances = models.corpus(task)[:count]
    model = make_model(task, instances, folder, elmo)
    disable_dropout(model)
    batch = tensors(model.vocab, instances)
    on_cpu = losses(deepcopy(model), deepcopy(batch))
    return losses(model.to(gpu), move_to_device(batch, gpu)), on_cpu


def losses(model: Model, batch: dict[str, Any]) -> list[float]:
    """Of two training steps, and then in evaluation mode."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    found = []
    for _ in range(2):
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
    task: str, elmo: dict[str, Any] | None, tmp_path: Path, gpu: torch.device
) -> None:
    found, expected = losses_of_both(task, tmp_path, elmo, gpu)
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_trains_under_autocast(
    task: str, dtype: torch.dtype, tmp_path: Path, gpu: torch.device
) -> None:
    instances = models.corpus(task)[:1]
    model = make_model(task, instances, tmp_path, BOTH).to(gpu)
    batch = move_to_device(tensors(model.vocab, instances), gpu)
    exact = model(**batch)["loss"].item()
    with torch.autocast(gpu.type, dtype=dtype):
        assert model(**batch)["loss"].item() == pytest.approx(exact, rel=0.02)
        assert "loss" in model.forward_on_instances(instances)[0]
        loss = model.train()(**batch)["loss"]
    loss.backward()
    assert loss.isfinite()
    for parameter in model.parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all()
