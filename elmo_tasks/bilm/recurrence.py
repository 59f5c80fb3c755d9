"""
The recurrence of `ProjectedLstm` over packed input products, and its gradient.

D is the number of directions that are computed together: 2 on a GPU, 1 on a CPU; B rows,
H the size of a cell, P of an output, N packed tokens, n the rows of one step.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from elmo_tasks.bilm.derivatives import first_derivative_only
from elmo_tasks.bilm.lstm_cell import step, step_back
from elmo_tasks.bilm.packed_linear import Linear, packed_linear

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
    For `uniform` see `lstm_cell.step`.
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
    `scan_steps` with its gradient, step by step from the last one (see `lstm_cell`): two
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
