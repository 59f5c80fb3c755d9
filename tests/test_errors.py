"""
Errors of memory say what to do; other errors are not changed. Long lines are shortened.
"""

import numpy
import pytest
import torch

from elmo_tasks.errors import InputError, is_out_of_memory, one_line


def test_missing_memory_of_numpy_and_torch() -> None:
    with pytest.raises(MemoryError) as of_numpy:
        numpy.empty(10**16)
    with pytest.raises(RuntimeError) as of_torch:
        torch.empty(10**16)
    for error in (of_numpy.value, of_torch.value, MemoryError()):
        assert is_out_of_memory(error)
        line = one_line(error)
        assert line is not None and line.startswith("out of memory: ")
        assert line.endswith("data_loader.batch_size, --batch-size, --max-tokens)")
    assert not is_out_of_memory(RuntimeError("expected 2 dimensions, got 3"))


def test_the_middle_of_a_long_line_is_left_out() -> None:
    assert str(InputError("a" * 300 + "b" * 300)) == f"{'a' * 250} ... {'b' * 250}"
