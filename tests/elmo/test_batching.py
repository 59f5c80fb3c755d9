"""Processes that compute batches."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from elmo_tasks.elmo.batching import workers


class Seen:
    """In place of a model: what it sees of the process in which it computes."""

    def vectors(self, sentences: Any, names: Any) -> np.ndarray:
        return np.array([os.getpid(), torch.get_num_threads()])


@pytest.fixture
def five_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(5)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("five_threads")
def test_processes_share_the_threads() -> None:
    model: Any = Seen()
    with workers(model, 2) as compute:
        assert compute is not None
        ((process, threads),) = compute([[["one"]]], [["line 1"]])
    assert process != os.getpid() and threads == 2
    with workers(model, 1) as compute:
        assert compute is None
