"""Missing GPUs."""

import pytest
import torch
from allennlp.common.checks import check_for_gpu

from elmo_tasks.errors import InputError


@pytest.mark.parametrize(
    ("gpus", "device", "message"),
    [
        (0, 0, r"expected -1 \(the CPU\), since this machine has no GPU, got GPU 0"),
        (1, [0, 3], r"expected -1 \(the CPU\) or a GPU from 0 to 0, got GPU 3"),
    ],
)
def test_missing_gpu(monkeypatch: pytest.MonkeyPatch, gpus: int, device: object, message: str) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    with pytest.raises(InputError, match=message):
        check_for_gpu(device)


def test_existing_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    check_for_gpu([-1, 0, 1, None])
