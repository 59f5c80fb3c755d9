"""
One step of a highway LSTM and its gradient: formulas and fast code.

The step (He et al. 2017, equations 1 to 7). From the pre-activations `a_i, a_f, a_g,
a_o, a_t` and `k`, each [rows, H], and the cell `c` of the step before, with `s(x)` the
sigmoid:

    i = s(a_i)    f = s(a_f)    g = tanh(a_g)    o = s(a_o)    t = s(a_t)
    c' = f c + i g
    q = tanh(c')
    u = o q
    h = t u + (1 - t) k

The gradient. `dx` is the derivative of the loss by `x`. Given `dh`, and the part of
`dc'` that comes from the next step:

    dk = (1 - t) dh
    dt = (u - k) dh
    du = t dh
    do = q du
    dq = o du
    dc' = (1 - q^2) dq + the next step's part
    di = g dc'    df = c dc'    dg = i dc'
    dc = f dc', the part that goes to the step before

By the pre-activations, since `s' = s (1 - s)` and `tanh' = 1 - tanh^2`:

    da_x = x (1 - x) dx  for x = i, f, o, t
    da_g = (1 - g^2) dg

`step` and `step_back` do this with few and in-place operations; a test compares a whole
encoder with a loop over words in plain code, and its gradients by autograd.
"""

import torch
from torch import Tensor

GATES = 6
"""The blocks of width H of a step's gates, in this order: i, f, g, o, t, k."""


def step(gates: Tensor, cell: Tensor, squashed: Tensor, output: Tensor) -> None:
    """
    A step in place: activates the pre-activations [rows, 6H], replaces c by c' in the
    cell [rows, H], and writes q and h into `squashed` and `output` [rows, H].

    `tanh(x)` is computed as `2 s(2x) - 1`, equal within 2e-7: the sigmoid is several
    times as fast on CPUs, and one call activates all gates.
    """
    width = cell.shape[1]
    gates[:, 2 * width : 3 * width].mul_(2.0)
    gates[:, : 5 * width].sigmoid_()
    i, f, g, o, t, k = gates.chunk(GATES, 1)
    g.mul_(2.0).sub_(1.0)
    cell.mul_(f).addcmul_(i, g)
    torch.mul(cell, 2.0, out=squashed)
    squashed.sigmoid_().mul_(2.0).sub_(1.0)
    torch.lerp(k, o * squashed, t, out=output)


def step_back(
    d_output: Tensor, d_cell: Tensor, gates: Tensor, cell: Tensor, squashed: Tensor
) -> Tensor:
    """
    dh and the next step's part of dc' [rows, H], the activated gates [rows, 6H], c and
    q [rows, H] -> the gradient by the pre-activations [rows, 6H]; dc [rows, H] replaces
    what is in `d_cell`.
    """
    i, f, g, o, t, k = gates.chunk(GATES, 1)
    # All blocks begin as x - x^2, the sigmoid's derivative; those of g and k are
    # replaced.
    d_gates = torch.addcmul(gates, gates, gates, value=-1.0)
    d_i, d_f, d_g, d_o, d_t, d_k = d_gates.chunk(GATES, 1)
    d_exposed = d_output * t
    torch.sub(d_output, d_exposed, out=d_k)
    exposed_minus_k = (o * squashed).sub_(k)
    d_t.mul_(exposed_minus_k).mul_(d_output)
    d_o.mul_(squashed).mul_(d_exposed)
    d_squashed_by_cell = (1.0 - squashed * squashed).mul_(o)
    d_cell.add_(d_squashed_by_cell.mul_(d_exposed))
    d_i.mul_(g).mul_(d_cell)
    d_f.mul_(cell).mul_(d_cell)
    torch.mul(i, 1.0 - g * g, out=d_g)
    d_g.mul_(d_cell)
    d_cell.mul_(f)
    return d_gates
