"""Out-of-memory errors name the longest instance; other errors are not changed."""

import pytest
import torch

from elmo_tasks.errors import InputError
from elmo_tasks.out_of_memory import explain_oom

TOO_MUCH = 2**50
MESSAGE = r"out of memory on a batch of 3 instances padded to 9 tokens, the length of b: .* \(do this\)$"


def run(error: Exception | None) -> None:
    with explain_oom([3, 9, 4], ["a", "b", "c"], hint="do this"):
        if error is None:
            torch.empty(TOO_MUCH, dtype=torch.uint8)
        else:
            raise error


@pytest.mark.parametrize("error", [None, torch.cuda.OutOfMemoryError("CUDA out of memory.\nmore"), MemoryError()])
def test_out_of_memory(error: Exception | None) -> None:
    with pytest.raises(InputError, match=MESSAGE):
        run(error)


@pytest.mark.parametrize("error", [RuntimeError("shapes differ"), KeyError("x")])
def test_other_errors(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        run(error)
    assert caught.value is error
