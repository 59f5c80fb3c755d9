import pytest
import torch
from allennlp.common.checks import check_for_gpu

from elmo_tasks.errors import InputError


def test_missing_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    check_for_gpu([-1, 0, None])
    with pytest.raises(InputError, match=r"expected -1 \(the CPU\) or a GPU from 0 to 0, got GPU 3"):
        check_for_gpu([0, 3])
