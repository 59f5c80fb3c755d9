"""
One step of the biLM's LSTM and its gradient: formulas, plain code, fast code; and the
recurrence of `ProjectedLstm`, all steps over packed input products, with its gradient.

The step (paper, section 3.1; Jozefowicz et al. 2016). From the pre-activations `a_i,
a_o, a_f, a_j`, each [..., H], and the cell `c` of the step before, with `s(x)` the
sigmoid, and `a_f` with the bias of 1:

    i = s(a_i)    o = s(a_o)    f = s(a_f)    j = tanh(a_j)
    c' = clip(f c + i j)
    q = tanh(c')
    u = o q

What follows, `h = clip(W_p u)`, is a matrix product, and no part of the step.

The gradient. `dx` is the derivative of the loss by `x`. Given `du`, and the part of
`dc'` that comes from the next step:

    do = q du
    dc' = (1 - q^2) o du + the next step's part, and 0 where c' was clipped
    di = j dc'    df = c dc'    dj = i dc'
    dc = f dc', the part that goes to the step before

By the pre-activations, since `s' = s (1 - s)` and `tanh' = 1 - tanh^2`:

    da_x = x (1 - x) dx  for x = i, o, f
    da_j = (1 - j^2) dj

In code c' is `new_cell`, q `squashed` and u `exposed`.
`plain_step` says the step in code, and a test compares it and its gradient by autograd
with `step` and `step_back`, which do the same with few and in-place operations.

In the recurrence, D is the number of directions that are computed together: 2 on a GPU,
1 on a CPU; B rows, H the size of a cell, P of an output, N packed tokens, n the rows of
one step.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from elmo_tasks.bilm.derivatives import first_derivative_only
from elmo_tasks.bilm.packed_linear import Linear, packed_linear

GATES = 4
"""The blocks of width H of a step's gates, in this order: i, o, f, j."""


def plain_step(
    gates: Tensor, cell: Tensor, clip: float | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """
    Pre-activations [..., 4H] and the cell c [..., H] -> the activated gates [...,
    4H], c', q and u, [..., H] each.
    """
    a_i, a_o, a_f, a_j = gates.chunk(GATES, -1)
    i = a_i.sigmoid()
    o = a_o.sigmoid()
    f = a_f.sigmoid()
    j = a_j.tanh()
    new_cell = f * cell + i * j
    if clip is not None:
        new_cell = new_cell.clamp(-clip, clip)
    squashed = new_cell.tanh()
    return torch.cat([i, o, f, j], -1), new_cell, squashed, o * squashed


def step(
    gates: Tensor, cell: Tensor, clip: float | None, *, uniform: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """
    `plain_step` with the gates [..., 4H] activated in place: returns c', q and u
    [..., H]. If `uniform`, each row has the same values whatever the others are, to the
    last bit, for a CPU without gradients: a product in 8 bits rounds the next input, so
    that the last bit may change an eighth one.
    """
    sigmoid_ = uniform_sigmoid_ if uniform else torch.sigmoid_
    i, o, f, j = _activate(gates, sigmoid_).chunk(GATES, -1)
    new_cell = torch.mul(f, cell).addcmul_(i, j)
    if clip is not None:
        new_cell.clamp_(-clip, clip)
    squashed = _tanh(new_cell, sigmoid_)
    return new_cell, squashed, o * squashed


def uniform_sigmoid_(inputs: Tensor) -> Tensor:
    """
    The sigmoid, which may overwrite its inputs, with the same rounding in each element
    of a tensor. `torch.sigmoid` is three times as fast, but rounds differently in the
    last elements of a tensor, and where threads divide it.
    """
    wide = inputs.to(torch.promote_types(inputs.dtype, torch.float32))
    return wide.neg_().exp_().add_(1.0).reciprocal_().to(inputs.dtype)


def _activate(gates: Tensor, sigmoid_: Callable[[Tensor], Tensor]) -> Tensor:
    """
    The activated gates, in place of the pre-activations.

    On a CPU, `tanh(x)` is computed as `2 s(2x) - 1`, equal within 2e-7: there the
    sigmoid is several times as fast, and one call activates all gates. On a GPU, each
    call takes the same time.
    """
    width = gates.shape[-1] // GATES * (GATES - 1)
    candidates = gates[..., width:]
    if gates.device.type != "cpu":
        gates[..., :width].sigmoid_()
        candidates.tanh_()
        return gates
    candidates.mul_(2.0)
    gates = sigmoid_(gates)
    gates[..., width:].mul_(2.0).sub_(1.0)
    return gates


def _tanh(values: Tensor, sigmoid_: Callable[[Tensor], Tensor]) -> Tensor:
    """Computed as in `_activate`."""
    if values.device.type != "cpu":
        return values.tanh()
    return sigmoid_(values.mul(2.0)).mul_(2.0).sub_(1.0)


def step_back(
    d_gates: Tensor,
    exposed: Tensor,
    d_exposed: Tensor,
    d_cell: Tensor,
    gates: Tensor,
    cell: Tensor,
    new_cell: Tensor,
    squashed: Tensor,
    clip: float | None,
) -> None:
    """
    du and the next step's part of dc' [..., H], the activated gates [..., 4H], c, c'
    and q [..., H] -> the gradient by the pre-activations, which replaces what is in
    `d_gates` [..., 4H], and dc, which replaces what is in `d_cell`. `exposed` [..., H]
    gets u, which the gradient of W_p needs.
    """
    i, o, f, j = gates.chunk(GATES, -1)
    if exposed.dtype == o.dtype:
        torch.mul(o, squashed, out=exposed)
    else:
        exposed.copy_(o * squashed)
    d_new_cell = d_cell.addcmul_(d_exposed * o, 1.0 - squashed * squashed)
    if clip is not None:
        d_new_cell.masked_fill_(new_cell.abs() >= clip, 0.0)
    d_i, d_o, d_f, d_j = d_gates.chunk(GATES, -1)
    d_i.copy_(d_new_cell * j * (i * (1.0 - i)))
    d_o.copy_(d_exposed * squashed * (o * (1.0 - o)))
    d_f.copy_(d_new_cell * cell * (f * (1.0 - f)))
    d_j.copy_(d_new_cell * i * (1.0 - j * j))
    d_new_cell.mul_(f)


Clips = tuple[float | None, float | None]
"""The largest absolute value of a cell, and of an output; `None` for no clipping."""


def scan_steps(
    gates: Tensor,
    recur: Linear,
    project: Linear,
    cell: Tensor,
    hidden: Tensor,
    batch_sizes: tuple[int, ...],
    clips: Clips,
    record: list[Tensor] | None = None,
    *,
    uniform: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """
    The recurrence over packed input products `gates` [D, N, 4H], from the state of each
    row: cell [D, B, H] and output `hidden` [D, B, P]. Returns the outputs [D, N, P],
    and the last cell and output of each row.

    `recur` maps outputs [D, n, P] to gates [D, n, 4H], `project` maps [D, n, H] to
    outputs [D, n, P]. If `record` is given, it collects what the backward pass needs of
    each step: the activated gates, the cell before and after, and the tanh of the cell.
    For `uniform` see `step`.
    """
    cell_clip, proj_clip = clips
    outputs = []
    ended = []  # the states of the rows that end, the shortest first
    start = 0
    for rows in batch_sizes:
        if rows < cell.shape[1]:
            ended.append((cell[:, rows:], hidden[:, rows:]))
            cell = cell[:, :rows]
            hidden = hidden[:, :rows]
        of_input = gates[:, start : start + rows]
        active = recur(hidden).add_(of_input).to(cell.dtype)  # [D, rows, 4H]
        new_cell, squashed, exposed = step(active, cell, cell_clip, uniform=uniform)
        hidden = project(exposed).to(cell.dtype)
        if proj_clip is not None:
            hidden.clamp_(-proj_clip, proj_clip)
        if record is not None:
            record.extend((active, cell, new_cell, squashed))
        outputs.append(hidden)
        cell = new_cell
        start += rows
    ended.append((cell, hidden))
    cells, hiddens = zip(*reversed(ended), strict=True)
    return torch.cat(outputs, 1), torch.cat(cells, 1), torch.cat(hiddens, 1)


class ScanSteps(torch.autograd.Function):
    """
    `scan_steps` with its gradient, step by step from the last one (`step_back`): two
    small products a step, and one product for the gradient of each weight.
    """

    @staticmethod
    def forward(
        ctx: Any,
        gates: Tensor,
        hidden_weight: Tensor,
        projection: Tensor,
        cell: Tensor,
        hidden: Tensor,
        batch_sizes: tuple[int, ...],
        clips: Clips,
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.batch_sizes = batch_sizes
        ctx.clips = clips
        record: list[Tensor] = []
        recur = products_with(hidden_weight)
        project = products_with(projection)
        results = scan_steps(
            gates, recur, project, cell, hidden, batch_sizes, clips, record
        )
        ctx.save_for_backward(hidden_weight, projection, hidden, results[0], *record)
        return results

    @staticmethod
    @first_derivative_only
    def backward(ctx: Any, *gradients: Any) -> Any:
        hidden_weight, projection, first_hidden, outputs, *record = ctx.saved_tensors
        d_outputs, d_cell, d_hidden = gradients  # [D, N, P], [D, B, H], [D, B, P]
        dtype = hidden_weight.dtype
        cell_clip, proj_clip = ctx.clips
        d_cell = d_cell.clone()
        d_hidden = d_hidden.clone()
        to_exposed = products_with(projection.transpose(1, 2))
        to_hidden = products_with(hidden_weight.transpose(1, 2))
        directions, tokens, _ = outputs.shape
        # The gradients of W_h and W_p are sums over all steps: one product each, of
        # these.
        d_gates = record[0].new_empty(
            directions, tokens, hidden_weight.shape[1], dtype=dtype
        )  # [D, N, 4H]
        d_projected = outputs.new_empty(outputs.shape, dtype=dtype)  # [D, N, P]
        exposed = outputs.new_empty(
            directions, tokens, projection.shape[2], dtype=dtype
        )  # [D, N, H]
        end = tokens
        for number in reversed(range(len(ctx.batch_sizes))):
            rows = ctx.batch_sizes[number]
            span = slice(end - rows, end)
            active, cell, new_cell, squashed = record[4 * number : 4 * number + 4]
            d_output = d_outputs[:, span] + d_hidden[:, :rows]
            if proj_clip is not None:
                d_output.masked_fill_(outputs[:, span].abs() >= proj_clip, 0.0)
            d_projected[:, span] = d_output
            d_exposed = to_exposed(d_projected[:, span]).to(active.dtype)
            step_back(
                d_gates[:, span],
                exposed[:, span],
                d_exposed,
                d_cell[:, :rows],
                active,
                cell,
                new_cell,
                squashed,
                cell_clip,
            )
            d_hidden[:, :rows] = to_hidden(d_gates[:, span]).to(active.dtype)
            end -= rows
        before = _previous_outputs(outputs, first_hidden, ctx.batch_sizes).to(dtype)
        return (
            d_gates,
            _summed_products(d_gates, before),
            _summed_products(d_projected, exposed),
            d_cell,
            d_hidden,
            None,
            None,
        )


def _summed_products(left: Tensor, right: Tensor) -> Tensor:
    """[D, N, M] and [D, N, K] -> the sums over N of the outer products [D, M, K]."""
    if len(left) == 1:
        return (left[0].t() @ right[0])[None]
    return torch.bmm(left.transpose(1, 2), right)


def _previous_outputs(
    outputs: Tensor, first: Tensor, batch_sizes: Sequence[int]
) -> Tensor:
    """
    The recurrent input of each packed step [D, N, P]: outputs [D, N, P] of the step
    before, and `first` [D, B, P] before the first one.
    """
    before = first
    received = []
    by_step = outputs.split(list(batch_sizes), 1)
    for rows, output in zip(batch_sizes, by_step, strict=True):
        received.append(before[:, :rows])
        before = output
    return torch.cat(received, 1)


def products_with(weights: Tensor) -> Linear:
    """Inputs [D, n, K] -> their products with constant weights [D, M, K]: [D, n, M]."""
    if len(weights) == 1:
        return packed_linear(weights[0])
    transposed = weights.transpose(1, 2)

    def products(inputs: Tensor) -> Tensor:
        return torch.bmm(inputs.to(weights.dtype), transposed)

    return products
