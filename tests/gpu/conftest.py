"""
The fixtures of the device, which is registered before any backward pass.

Tests here run in a pytest of their own (`make test` starts it): where a device beside
the CPU is registered, a backward pass starts threads, and a forked process, which other
tests make, has none.
"""

from collections.abc import Iterator

import pytest
import torch

from tests.gpu import pretend

if pretend.available():
    pretend.register()


@pytest.fixture
def gpu() -> Iterator[torch.device]:
    """A GPU: the first one of this machine, otherwise a pretended one."""
    if torch.cuda.is_available():
        yield torch.device("cuda", 0)
        return
    if not pretend.available():
        pytest.skip(pretend.MISSING)
    with pretend.in_place_of_cuda() as device:
        yield device
