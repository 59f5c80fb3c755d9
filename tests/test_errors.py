"""Out-of-memory errors name the longest instance; other errors are not changed."""

import numpy
import pytest
import torch

from elmo_tasks.errors import InputError, explain_oom, is_out_of_memory, one_line

MESSAGE = r"out of memory on a batch of 3 instances padded to 9 tokens, the length of b: .* \(do this\)$"


@pytest.mark.parametrize(
    "error",
    [None, torch.cuda.OutOfMemoryError("CUDA out of memory.\nmore"), MemoryError()],
)
def test_out_of_memory(error: Exception | None) -> None:
    with (
        pytest.raises(InputError, match=MESSAGE),
        explain_oom([3, 9, 4], ["a", "b", "c"], hint="do this"),
    ):
        if error is None:
            torch.empty(2**50, dtype=torch.uint8)
        else:
            raise error


def test_other_errors() -> None:
    with (
        pytest.raises(RuntimeError, match="^shapes differ$"),
        explain_oom([1], ["a"], hint="do this"),
    ):
        raise RuntimeError("shapes differ")


def test_missing_memory_of_numpy_and_torch() -> None:
    with pytest.raises(MemoryError) as of_numpy:
        numpy.empty(10**16)
    with pytest.raises(RuntimeError) as of_torch:
        torch.empty(10**16)
    for error in (of_numpy.value, of_torch.value, MemoryError()):
        assert is_out_of_memory(error)
        line = one_line(error)
        assert line is not None and line.startswith("out of memory: ")
        assert line.endswith("data_loader.batch_size, or --batch-size)")
    assert not is_out_of_memory(RuntimeError("expected 2 dimensions, got 3"))
