"""
A step and its gradient: the fast code against the plain one, and against autograd.
"""

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm.recurrence import plain_step, step, step_back

ROWS, WIDTH = 3, 5


def randn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("clip", [None, 0.3])
def test_the_fast_code_equals_the_plain_one_and_autograd(clip: float | None) -> None:
    gates = randn(ROWS, 4 * WIDTH).requires_grad_()
    cell = randn(ROWS, WIDTH).requires_grad_()
    plain = plain_step(gates, cell, clip)
    active = gates.detach().clone()
    found = (active, *step(active, cell.detach(), clip))
    torch.testing.assert_close(found, tuple(part.detach() for part in plain))
    d_exposed = randn(ROWS, WIDTH)
    d_cell = randn(ROWS, WIDTH)
    _, new_cell, squashed, u = plain
    assert clip is None or (new_cell.abs() == clip).any()
    expected = torch.autograd.grad([u, new_cell], [gates, cell], [d_exposed, d_cell])
    d_gates = torch.full_like(active, torch.nan)
    exposed = torch.full_like(active[:, :WIDTH], torch.nan)
    known = (active, cell.detach(), *found[1:3], clip)
    step_back(d_gates, exposed, d_exposed, d_cell, *known)
    torch.testing.assert_close((d_gates, d_cell), expected)
    torch.testing.assert_close(exposed, u.detach())
