"""
A step and its gradient: the plain code against autograd, and the fast code against the
plain one.
"""

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm.recurrence import plain_step, plain_step_back, step, step_back

ROWS, WIDTH = 3, 5


def randn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("clip", [None, 0.3])
def test_the_plain_gradient_is_that_of_autograd(clip: float | None) -> None:
    gates = randn(ROWS, 4 * WIDTH).requires_grad_()
    cell = randn(ROWS, WIDTH).requires_grad_()
    active, new_cell, squashed, exposed = plain_step(gates, cell, clip)
    d_exposed = randn(ROWS, WIDTH)
    d_new_cell = randn(ROWS, WIDTH)
    expected = torch.autograd.grad(
        [exposed, new_cell], [gates, cell], [d_exposed, d_new_cell]
    )
    found = plain_step_back(
        d_exposed, d_new_cell, active, cell, new_cell, squashed, clip
    )
    assert clip is None or (new_cell.abs() == clip).any()
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("clip", [None, 0.3])
def test_the_fast_code_equals_the_plain_one(clip: float | None) -> None:
    gates = randn(ROWS, 4 * WIDTH)
    cell = randn(ROWS, WIDTH)
    expected = plain_step(gates, cell, clip)
    active = gates.clone()
    torch.testing.assert_close((active, *step(active, cell, clip)), expected)
    d_exposed = randn(ROWS, WIDTH)
    d_cell = randn(ROWS, WIDTH)
    d_gates = torch.full_like(gates, torch.nan)
    _, new_cell, squashed, u = expected
    exposed = torch.full_like(cell, torch.nan)
    known = (active, cell, new_cell, squashed, clip)
    expected = plain_step_back(d_exposed, d_cell, *known)
    step_back(d_gates, exposed, d_exposed, d_cell, *known)
    torch.testing.assert_close((d_gates, d_cell), expected)
    torch.testing.assert_close(exposed, u)
